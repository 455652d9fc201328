import type { ServerTarget } from '@atenea/cli/config'
import type { Root } from '@atenea/mcpcompat'
import type { FrontSettings, PolicyRule } from '@atenea/fronts'
import type { BackendMode } from '@atenea/passthrough'
import type { SignInSetting } from './auth/sign-in-setting.ts'

/** Globs of names; absent means all. What is disabled wins. */
export interface NameFilter {
  readonly enabled?: readonly string[] | undefined
  readonly disabled?: readonly string[] | undefined
}

/** Variables that a child inherits besides the usual few, or all. */
export type InheritEnv = readonly string[] | 'all'

/** One server behind the proxy. */
export interface BackendSetting {
  /** Unique. For people, and for the names of tools where there are several. */
  readonly name: string
  readonly target: ServerTarget
  readonly mode: BackendMode
  /** Legacy revisions that this backend may speak; `undefined` for those of the proxy. */
  readonly legacyRevisions: readonly string[] | undefined
  readonly tools: NameFilter
  /** New names of tools, by the backend's own. */
  readonly renames: Readonly<Record<string, string>>
  readonly inheritEnv: InheritEnv
  /** What it is told when it asks for roots and no client can be asked. */
  readonly roots: readonly Root[]
  /** How to come to a token, where the server is reached by HTTP and wants one. */
  readonly signIn: SignInSetting
  /** Longest time for a start, handshake included; what is `undefined` follows from how it is reached. */
  readonly startTimeoutMs: number | undefined
  readonly callTimeoutMs: number | undefined
  readonly maxCallMs: number | undefined
}

/** All that decides how the proxy behaves, from flags, configuration and defaults. */
export interface Settings extends FrontSettings {
  /** Who may use what of all that is offered; `undefined`: everybody everything. */
  readonly policy: readonly PolicyRule[] | undefined
  readonly backends: readonly BackendSetting[]
  /** Between the name of a backend and that of its tool, where there are several backends. */
  readonly separator: string | undefined
  /** Forward methods that nobody here knows. */
  readonly passExtensions: boolean
  /** Relay questions between peers of different eras. */
  readonly bridgeInput: boolean
  /** How long a call of a legacy server waits for the answers of a modern client; `undefined` for the default. */
  readonly answerMs: number | undefined
  /** Calls that may be asked at the same time, for each server that does not say in which call it asks; `undefined` for the default. */
  readonly maxAskingCalls: number | undefined
  /** How long servers keep the session of a client that is silent and would hear of nothing; `undefined` for the default. */
  readonly unheardSessionMs: number | undefined
  /** Absolute path of a file with the keys of what clients carry for servers; `undefined` for a key of this process alone. */
  readonly sealKeyFile: string | undefined
  /** Absolute path of a file that pins the definitions of tools. */
  readonly lockFile: string | undefined
  /** Absolute path of the file in which it is remembered which era servers speak; `undefined` for none. */
  readonly verdictFile: string | undefined
  /** The configurations that led here, for the environment of what is started; `undefined` without any. */
  readonly configChain: string | undefined
}

/** What the word `default` stands for as a socket, in the state directory. */
export const socketFile = 'proxy.sock'
