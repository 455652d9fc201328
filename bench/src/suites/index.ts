import { httpFlightSuite } from '../http/suites/flight.ts'
import { httpLargeSuite } from '../http/suites/large.ts'
import { httpScaleSuite } from '../http/suites/scale.ts'
import { httpStartSuite } from '../http/suites/start.ts'
import { idleSuite } from '../http/suites/idle.ts'
import { streamsSuite } from '../http/suites/streams.ts'
import { proxySuites } from '../proxy/suites/index.ts'
import { blockingSuite } from './blocking.ts'
import { cancelSuite } from './cancel.ts'
import { flightSuite } from './flight.ts'
import { largeSuite } from './large.ts'
import { scaleSuite } from './scale.ts'
import { sequentialSuite } from './sequential.ts'
import { startSuite } from './start.ts'
import type { Suite } from './suite.ts'

/** All suites, in the order in which they are run and reported. */
export const suites: readonly Suite[] = [
  startSuite,
  sequentialSuite,
  flightSuite,
  largeSuite,
  blockingSuite,
  cancelSuite,
  scaleSuite(10),
  scaleSuite(100),
  scaleSuite(1_000),
  scaleSuite(5_000),
  httpStartSuite,
  httpFlightSuite(1),
  httpFlightSuite(16),
  httpFlightSuite(64),
  httpFlightSuite(256),
  httpLargeSuite,
  httpScaleSuite(10),
  httpScaleSuite(1_000),
  httpScaleSuite(5_000),
  streamsSuite(1_000),
  streamsSuite(10_000),
  idleSuite,
  ...proxySuites,
]
