/** Something that can be stopped. Stopping rejects with the reason of the signal, unchanged. */
export interface AbortOptions {
  readonly signal?: AbortSignal | undefined
}

/** The value, or the reason of the signal if it aborts first. The promise may then settle unseen. */
export async function unlessAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  using aborts = watchAborts(signal)
  return await aborts.orAbort(pending)
}

/** Waits for one thing after the other, each until the signal aborts. Dispose it, or it stays attached to the signal. */
export interface AbortWatch extends Disposable {
  orAbort<T>(pending: Promise<T> | T): Promise<T>
}

/** One listener for all waits: to add one costs more than to hash a small chunk. */
export function watchAborts(signal: AbortSignal): AbortWatch {
  let reject: (reason: unknown) => void = () => undefined
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  return {
    orAbort: (pending) =>
      new Promise((resolve, fail) => {
        reject = fail
        if (signal.aborted) abort()
        Promise.resolve(pending).then(resolve, fail)
      }),
    [Symbol.dispose]: () => signal.removeEventListener('abort', abort),
  }
}
