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
]
