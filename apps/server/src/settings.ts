import type { FrontSettings, PolicyRule } from '@atenea/fronts'
import type { AtprotoSettings } from './atproto/atproto-settings.ts'

/** A resource that the operator names: its bytes are a text in the configuration, or a file that is read whenever it is asked for. */
export interface ResourceSetting {
  readonly uri: string
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  readonly text?: string | undefined
  /** Absolute path. */
  readonly file?: string | undefined
}

/** Globs of names; absent means all. What is disabled wins. */
export interface NameFilter {
  readonly enabled?: readonly string[] | undefined
  readonly disabled?: readonly string[] | undefined
}

/** All that decides how a server behaves, from flags, configuration and defaults. */
export interface Settings extends FrontSettings {
  readonly tools: NameFilter
  readonly prompts: NameFilter
  readonly resources: NameFilter
  /** Who may use what of it; `undefined`: everybody everything. */
  readonly policy: readonly PolicyRule[] | undefined
  readonly staticResources: readonly ResourceSetting[]
  readonly atproto: AtprotoSettings
}

/** What the word `default` stands for as a socket, in the state directory. */
export const socketFile = 'server.sock'
