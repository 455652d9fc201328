import { TransportError } from '../jsonrpc/errors.ts'
import { type Resolvers, withResolvers } from './with-resolvers.ts'

export interface ChannelOptions {
  /** Bytes held for the consumer above which `push` asks to wait. */
  readonly waitAtBytes: number
  /** Hard cap: a push that would hold more than this fails the channel. */
  readonly maxBytes: number
  /**
   * The consumer stopped before it was told of the end. Called once, and awaited before its `return()` resolves, so that the
   * end of iteration is the end of teardown.
   */
  readonly onStop?: () => void | Promise<void>
}

/** Where values that are pushed meet one consumer that pulls. Iterate it once. */
export interface Channel<T> extends AsyncIterable<T> {
  /**
   * Hands a value to the consumer that waits, or holds it; `bytes` is what it weighs. Returns a promise when more than
   * `waitAtBytes` are held: it resolves when the consumer has taken all of them, or there is no more consumer. After the end
   * of the channel values are dropped.
   */
  push(value: T, bytes: number): void | Promise<void>
  /** No more values come. Those that are held still do, and then the iteration ends, or throws `error` when one is given. */
  end(error?: Error): void
  /** It broke: what is held is dropped and the iteration throws `error`. */
  fail(error: Error): void
  /** Whether values are still taken. */
  readonly open: boolean
}

/** Makes a channel. A value for which the consumer waits already is not counted, so that one of any size can pass. */
export function channel<T>(options: ChannelOptions): Channel<T> {
  return new BufferedChannel(options)
}

interface Held<T> {
  readonly value: T
  readonly bytes: number
}

class BufferedChannel<T> implements Channel<T>, AsyncIterator<T> {
  readonly #options: ChannelOptions
  #held: Held<T>[] = []
  #head = 0
  #heldBytes = 0
  #open = true
  /** Thrown once to the consumer when nothing is held any more. */
  #error: Error | undefined
  #consumer: Resolvers<IteratorResult<T>> | undefined
  #taken = false
  #stopping: Promise<void> | undefined
  #room: Resolvers<void> | undefined

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  get open(): boolean {
    return this.#open
  }

  push(value: T, bytes: number): void | Promise<void> {
    if (!this.#open) return
    const consumer = this.#consumer
    if (consumer !== undefined) {
      this.#consumer = undefined
      consumer.resolve({ value, done: false })
      return
    }
    if (this.#heldBytes + bytes > this.#options.maxBytes) {
      this.fail(
        new TransportError(
          'too-large',
          `more than ${this.#options.maxBytes} bytes wait for a reader that does not read`,
        ),
      )
      return
    }
    this.#held.push({ value, bytes })
    this.#heldBytes += bytes
    if (this.#heldBytes > this.#options.waitAtBytes) return this.#waitForRoom()
  }

  end(error?: Error): void {
    if (!this.#open) return
    this.#open = false
    this.#error = error
    const consumer = this.#consumer
    this.#consumer = undefined
    if (consumer !== undefined) this.#settle(consumer)
    this.#giveRoom()
  }

  fail(error: Error): void {
    if (!this.#open) return
    this.#drop()
    this.end(error)
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    if (this.#taken) throw new TypeError('a channel has one consumer')
    this.#taken = true
    return this
  }

  next(): Promise<IteratorResult<T>> {
    const first = this.#held[this.#head]
    if (first !== undefined) {
      this.#head++
      this.#heldBytes -= first.bytes
      if (this.#head === this.#held.length) {
        this.#drop()
        this.#giveRoom()
      }
      return Promise.resolve({ value: first.value, done: false })
    }
    const consumer = withResolvers<IteratorResult<T>>()
    if (!this.#open) this.#settle(consumer)
    else if (this.#consumer !== undefined) consumer.reject(new TypeError('a channel has one consumer'))
    else this.#consumer = consumer
    return consumer.promise
  }

  async return(): Promise<IteratorResult<T>> {
    this.#drop()
    this.end()
    this.#error = undefined
    this.#stopping ??= this.#stop()
    await this.#stopping
    return { value: undefined, done: true }
  }

  async #stop(): Promise<void> {
    await this.#options.onStop?.()
  }

  #settle(consumer: Resolvers<IteratorResult<T>>): void {
    const error = this.#error
    this.#error = undefined
    if (error === undefined) consumer.resolve({ value: undefined, done: true })
    else consumer.reject(error)
  }

  #drop(): void {
    this.#held = []
    this.#head = 0
    this.#heldBytes = 0
  }

  #waitForRoom(): Promise<void> {
    this.#room ??= withResolvers<void>()
    return this.#room.promise
  }

  #giveRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }
}
