import type { Scope } from './context.ts'

/** A scope in the hands of whoever opened it, and who therefore closes it. */
export interface OwnedScope extends Scope {
  /**
   * Runs what was deferred, last in first out, each after the one before has finished. A disposer that fails does not stop
   * the others; afterwards one failure is thrown as it is, several as an `AggregateError`. Returns a promise only when a
   * disposer did. Calling it again gives the same end and runs nothing.
   */
  close(): void | Promise<void>
}

export interface CreateScopeOptions {
  /**
   * Hears of the failure of a disposer that was deferred after the end, whose scope has no end left to report it from.
   * Without it, such a failure is thrown at whoever deferred; an asynchronous one is an unhandled rejection.
   */
  readonly onLateError?: (error: unknown) => void
}

type Disposer = () => void | Promise<void>

/** Opens a scope. It costs nothing to close one in which nothing was deferred. */
export function createScope(options?: CreateScopeOptions): OwnedScope {
  return new DisposerScope(options?.onLateError)
}

class DisposerScope implements OwnedScope {
  closed = false
  readonly #onLateError: ((error: unknown) => void) | undefined
  #disposers: Disposer[] | undefined
  #state: Map<symbol, unknown> | undefined
  #ending: Promise<void> | undefined

  constructor(onLateError: ((error: unknown) => void) | undefined) {
    this.#onLateError = onLateError
  }

  get state(): Map<symbol, unknown> {
    this.#state ??= new Map()
    return this.#state
  }

  defer(dispose: Disposer): void {
    if (this.closed) this.#runLate(dispose)
    else if (this.#disposers === undefined) this.#disposers = [dispose]
    else this.#disposers.push(dispose)
  }

  close(): void | Promise<void> {
    if (this.closed) return this.#ending
    this.closed = true
    const disposers = this.#disposers
    if (disposers === undefined) {
      this.#state = undefined
      return
    }
    this.#disposers = undefined
    const errors: unknown[] = []
    const pending = this.#runDown(disposers, errors)
    if (pending === undefined) {
      this.#finish(errors)
      return
    }
    this.#ending = this.#finishLater(disposers, errors, pending)
    return this.#ending
  }

  /** Runs disposers from the end of the list until one has to be waited for. */
  #runDown(disposers: Disposer[], errors: unknown[]): Promise<void> | undefined {
    for (let dispose = disposers.pop(); dispose !== undefined; dispose = disposers.pop()) {
      try {
        const pending = dispose()
        if (pending !== undefined) return pending
      } catch (error) {
        errors.push(error)
      }
    }
    return undefined
  }

  async #finishLater(disposers: Disposer[], errors: unknown[], first: Promise<void>): Promise<void> {
    for (
      let pending: Promise<void> | undefined = first;
      pending !== undefined;
      pending = this.#runDown(disposers, errors)
    ) {
      try {
        await pending
      } catch (error) {
        errors.push(error)
      }
    }
    this.#finish(errors)
  }

  #finish(errors: unknown[]): void {
    this.#state = undefined
    if (errors.length === 1) throw errors[0]
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} disposers failed`)
  }

  #runLate(dispose: Disposer): void {
    const onLateError = this.#onLateError
    if (onLateError === undefined) {
      void dispose()
      return
    }
    try {
      const pending = dispose()
      if (pending !== undefined) pending.then(undefined, onLateError)
    } catch (error) {
      onLateError(error)
    }
  }
}
