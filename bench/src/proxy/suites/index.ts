import type { Suite } from '../../suites/suite.ts'
import { type Route, routes } from '../routes.ts'
import { proxyFlightSuite } from './flight.ts'
import { proxyLargeSuite } from './large.ts'
import { proxySequentialSuite } from './sequential.ts'
import { proxyStartSuite } from './start.ts'

/** All suites of proxies, route by route. */
export const proxySuites: readonly Suite[] = routes.flatMap(suitesOf)

function suitesOf(route: Route): readonly Suite[] {
  return [
    proxyStartSuite(route),
    proxySequentialSuite(route),
    proxyFlightSuite(route, 16),
    proxyFlightSuite(route, 64),
    proxyLargeSuite(route, 100),
    proxyLargeSuite(route, 1_024),
  ]
}
