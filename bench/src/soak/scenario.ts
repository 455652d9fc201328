import type { HttpSession } from '../http/http-session.ts'
import type { Era } from '../targets.ts'

/** What a scenario may look at. */
export interface Scene extends HttpSession {
  /** 1 for a full soak. */
  readonly scale: number
}

/** A hardship for our HTTP server. */
export interface Scenario {
  readonly name: string
  readonly title: string
  readonly era: Era
  /** Limits of the server that it shortens, in milliseconds. */
  readonly env: Readonly<Record<string, string>>
  /** Imposes it, and leaves nothing open. Resolves with what happened, for the table. Throws when something was not as it must be. */
  run(scene: Scene): Promise<string>
}

/** A number at the scale of a soak. */
export function scaledTo({ scale }: Pick<Scene, 'scale'>, count: number): number {
  return Math.max(2, Math.round(count * scale))
}
