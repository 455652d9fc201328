export interface InboxHooks {
  /** The consumer has taken all that was held. */
  onRoom(): void
  /** The consumer stopped early. Awaited before its `return()` resolves. */
  onReturn(): Promise<void>
}

export interface Inbox<T> extends AsyncIterable<T> {
  /** Hands a value to the consumer that waits, or holds it. `bytes` is what it weighs. Dropped after the end. */
  push(value: T, bytes: number): void
  /** Bytes held for the consumer now. */
  readonly bytes: number
  /** No more values come. Those that are held still do. */
  end(): void
  /** It broke. What is held still comes, since an answer that has arrived is an answer; then the consumer's next step rejects, once. */
  fail(error: unknown): void
}

/** Where pushed values meet one consumer that pulls. */
export function createInbox<T>(hooks: InboxHooks): Inbox<T> {
  const held: { readonly value: T; readonly bytes: number }[] = []
  let bytes = 0
  let ended = false
  let failure: { readonly error: unknown } | undefined
  let waiting: { resolve(result: IteratorResult<T>): void; reject(error: unknown): void } | undefined
  let taken = false

  const done: IteratorResult<T> = { value: undefined, done: true }

  const iterator: AsyncIterator<T> = {
    next() {
      const first = held.shift()
      if (first !== undefined) {
        bytes -= first.bytes
        if (held.length === 0) hooks.onRoom()
        return Promise.resolve({ value: first.value, done: false })
      }
      if (failure !== undefined) {
        const { error } = failure
        failure = undefined
        return Promise.reject(error)
      }
      if (ended) return Promise.resolve(done)
      if (waiting !== undefined)
        return Promise.reject(new TypeError('the inbound messages of a connection have one consumer'))
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject }
      })
    },
    async return() {
      await hooks.onReturn()
      return done
    },
  }

  function settle(): void {
    ended = true
    const consumer = waiting
    waiting = undefined
    if (consumer === undefined) return
    if (failure === undefined) consumer.resolve(done)
    else {
      consumer.reject(failure.error)
      failure = undefined
    }
  }

  return {
    get bytes() {
      return bytes
    },
    push(value, weight) {
      if (ended) return
      if (waiting !== undefined) {
        const consumer = waiting
        waiting = undefined
        consumer.resolve({ value, done: false })
        return
      }
      held.push({ value, bytes: weight })
      bytes += weight
    },
    end() {
      if (!ended) settle()
    },
    fail(error) {
      if (ended) return
      failure = { error }
      settle()
    },
    [Symbol.asyncIterator]() {
      if (taken) throw new TypeError('the inbound messages of a connection have one consumer')
      taken = true
      return iterator
    },
  }
}
