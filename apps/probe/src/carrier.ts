import type { AuthChallenge as Challenge } from '@atenea/transport-http'
import type { EraResult } from './era-result.ts'
import type { ProbeOptions } from './probe-options.ts'
import type { Recorder } from './recorder.ts'
import type { AuthChallenge, ToolCallReport } from './report.ts'
import type { Trouble } from './trouble.ts'

/** What probing over one carrier gave. Filled while it runs, so that an early end leaves what is known. */
export interface CarrierResult {
  modern: EraResult
  legacy: EraResult
  auth?: AuthChallenge | undefined
  /** The challenges as they came. */
  challenges?: readonly Challenge[] | undefined
  /** Why nobody gets in, as far as the way to the server tells. */
  trouble?: Trouble | undefined
  call?: ToolCallReport | undefined
  stderr?: string | undefined
}

/** What each part of a probe needs. */
export interface Probing {
  readonly options: ProbeOptions
  readonly recorder: Recorder
  readonly result: CarrierResult
}
