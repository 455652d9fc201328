import type { HandlerContext } from '@atenea/core'

const firstMs = 500
const everyMs = 500

/** Waits for work and tells the caller now and then how far it is, once it has taken long. */
export async function withProgress<T>(
  work: Promise<T>,
  progress: HandlerContext['progress'],
  measure: () => { readonly done: number; readonly total: number | undefined } | undefined,
): Promise<T> {
  let last = 0
  const look = (): void => {
    const { done, total } = measure() ?? { done: 0, total: undefined }
    if (done <= last) return
    last = done
    // A caller that does not read must not hold up the transfer.
    void Promise.resolve(progress(done, total, 'bytes')).catch(() => undefined)
  }
  let timer = setTimeout(function again() {
    look()
    timer = setTimeout(again, everyMs)
  }, firstMs)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}
