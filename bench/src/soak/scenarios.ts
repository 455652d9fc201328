import { abandonedSessionsScenario } from './abandoned-sessions.ts'
import { halfOpenScenario } from './half-open.ts'
import { listensScenario } from './listens.ts'
import { neverReadsScenario } from './never-reads.ts'
import type { Scenario } from './scenario.ts'
import { slowBodiesScenario } from './slow-bodies.ts'

/** All scenarios, in the order in which they are run. */
export const scenarios: readonly Scenario[] = [
  listensScenario,
  slowBodiesScenario,
  neverReadsScenario,
  halfOpenScenario,
  abandonedSessionsScenario,
]
