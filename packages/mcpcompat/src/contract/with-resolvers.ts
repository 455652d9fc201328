/** A promise and the two functions that settle it. */
export interface Resolvers<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  /** An abort hands on its reason unchanged, so this takes anything. */
  readonly reject: (reason: unknown) => void
}

/** `Promise.withResolvers`, which not every supported runtime has. Where there is one, it makes fewer objects than we could. */
export const withResolvers: <T>() => Resolvers<T> = nativeWithResolvers() ?? ownWithResolvers

function nativeWithResolvers(): (<T>() => Resolvers<T>) | undefined {
  const promises = Promise as { withResolvers?: <T>() => Resolvers<T> } & PromiseConstructor
  return promises.withResolvers?.bind(Promise)
}

function ownWithResolvers<T>(): Resolvers<T> {
  let resolve: Resolvers<T>['resolve'] = () => undefined
  let reject: Resolvers<T>['reject'] = () => undefined
  const promise = new Promise<T>((onValue, onReason) => {
    resolve = onValue
    reject = onReason
  })
  return { promise, resolve, reject }
}
