/** A signal that follows several sources and can be aborted by hand. Dispose it, or it stays attached to its sources. */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}
