/** A promise and the two functions that settle it. */
export interface Resolvers<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  /** An abort hands on its reason unchanged, so this takes anything. */
  readonly reject: (reason: unknown) => void
}

/** `Promise.withResolvers`, which Node 20 does not have. */
export function withResolvers<T>(): Resolvers<T> {
  let resolve: Resolvers<T>['resolve'] = () => undefined
  let reject: Resolvers<T>['reject'] = () => undefined
  const promise = new Promise<T>((onValue, onReason) => {
    resolve = onValue
    reject = onReason
  })
  return { promise, resolve, reject }
}
