import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { TransportError } from '../jsonrpc/errors.ts'
import { type Channel, channel } from './streams.ts'

const limits = { waitAtBytes: 10, maxBytes: 100 }

async function drain<T>(source: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = []
  for await (const value of source) values.push(value)
  return values
}

describe('channel', () => {
  test('gives what was pushed in order, before and while the consumer waits, and ends', async () => {
    const pipe = channel<number>(limits)
    void pipe.push(1, 1)
    const drained = drain(pipe)
    await Promise.resolve()
    void pipe.push(2, 1)
    await new Promise((resolve) => setTimeout(resolve, 1))
    void pipe.push(3, 1)
    void pipe.push(4, 1)
    pipe.end()
    void pipe.push(5, 1)
    await expect(drained).resolves.toEqual([1, 2, 3, 4])
    expect(pipe.open).toBe(false)
  })

  test('an end with an error comes after what is held, and once', async () => {
    const pipe = channel<number>(limits)
    const error = new Error('broken')
    void pipe.push(1, 1)
    pipe.end(error)
    pipe.end()
    pipe.fail(new Error('too late'))
    const iterator = pipe[Symbol.asyncIterator]()
    await expect(iterator.next()).resolves.toEqual({ value: 1, done: false })
    await expect(iterator.next()).rejects.toBe(error)
    await expect(iterator.next()).resolves.toEqual({ value: undefined, done: true })
  })

  test('a failure drops what is held, and reaches a consumer that waits', async () => {
    const error = new Error('broken')
    const held = channel<number>(limits)
    void held.push(1, 1)
    held.fail(error)
    await expect(drain(held)).rejects.toBe(error)

    const waiting = channel<number>(limits)
    const drained = drain(waiting)
    waiting.fail(error)
    await expect(drained).rejects.toBe(error)
  })

  test('asks to wait above the mark, until all is taken', async () => {
    const pipe = channel<string>(limits)
    expect(pipe.push('a', 10)).toBeUndefined()
    const room = pipe.push('b', 1)
    expect(pipe.push('c', 1)).toBe(room)
    let free = false
    void room?.then(() => {
      free = true
    })
    const iterator = pipe[Symbol.asyncIterator]()
    await iterator.next()
    await iterator.next()
    await new Promise((resolve) => setTimeout(resolve, 1))
    expect(free).toBe(false)
    await iterator.next()
    await room
    expect(pipe.push('d', 10)).toBeUndefined()
  })

  test('whoever waits for room is set free when there is no consumer any more', async () => {
    for (const stop of ['end', 'fail', 'break'] as const) {
      const pipe = channel<string>(limits)
      const room = pipe.push('a', 11)
      expect(room).toBeInstanceOf(Promise)
      if (stop === 'end') pipe.end()
      else if (stop === 'fail') pipe.fail(new Error('broken'))
      else for await (const _ of pipe) break
      await room
    }
  })

  test('fails when more is held than the cap allows; a value that is waited for may have any size', async () => {
    const pipe = channel<string>(limits)
    const iterator = pipe[Symbol.asyncIterator]()
    const first = iterator.next()
    expect(pipe.push('huge', 1_000)).toBeUndefined()
    await expect(first).resolves.toEqual({ value: 'huge', done: false })
    void pipe.push('a', 100)
    expect(pipe.push('b', 1)).toBeUndefined()
    expect(pipe.open).toBe(false)
    await expect(iterator.next()).rejects.toSatisfy((error) => TransportError.is(error) && error.kind === 'too-large')
  })

  test('a consumer that breaks off waits for teardown, once, and nothing is held afterwards', async () => {
    const steps: string[] = []
    const pipe = channel<number>({
      ...limits,
      async onStop() {
        await new Promise((resolve) => setTimeout(resolve, 5))
        steps.push('torn down')
      },
    })
    void pipe.push(1, 1)
    void pipe.push(2, 1)
    for await (const value of pipe) {
      steps.push(`got ${value}`)
      break
    }
    steps.push('after the loop')
    expect(steps).toEqual(['got 1', 'torn down', 'after the loop'])
    expect(pipe.push(3, 1_000)).toBeUndefined()
    expect(pipe.open).toBe(false)
  })

  test('teardown is also asked for when the consumer breaks off at the last value of a channel that has ended', async () => {
    let stopped = 0
    const pipe = channel<number>({ ...limits, onStop: () => void stopped++ })
    void pipe.push(1, 1)
    pipe.end()
    for await (const _ of pipe) break
    expect(stopped).toBe(1)
  })

  test('no teardown is asked for when the channel had ended and everything was taken', async () => {
    let stopped = 0
    const pipe = channel<number>({ ...limits, onStop: () => void stopped++ })
    pipe.end()
    expect(await drain(pipe)).toEqual([])
    expect(stopped).toBe(0)
  })

  test('has one consumer', async () => {
    const pipe = channel<number>(limits)
    const iterator = pipe[Symbol.asyncIterator]()
    expect(() => pipe[Symbol.asyncIterator]()).toThrow(TypeError)
    const first = iterator.next()
    await expect(iterator.next()).rejects.toBeInstanceOf(TypeError)
    void pipe.push(1, 1)
    await expect(first).resolves.toEqual({ value: 1, done: false })
  })

  test('nothing is lost or doubled, however pushing and pulling take turns', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('push', 'pull', 'turn'), { maxLength: 100 }), async (steps) => {
        const pipe = channel<number>({ waitAtBytes: 3, maxBytes: 1_000 })
        const iterator = pipe[Symbol.asyncIterator]()
        const pulled: number[] = []
        let pulling: Promise<void> = Promise.resolve()
        let pushed = 0
        const pull = async (): Promise<void> => {
          const { value, done } = await iterator.next()
          if (done !== true) pulled.push(value)
        }
        for (const step of steps) {
          if (step === 'push') void pipe.push(pushed++, 1)
          else if (step === 'pull') pulling = pulling.then(pull)
          else await new Promise((resolve) => setImmediate(resolve))
        }
        pipe.end()
        await pulling
        for (let result = await iterator.next(); result.done !== true; result = await iterator.next())
          pulled.push(result.value)
        expect(pulled).toEqual(Array.from({ length: pushed }, (_, index) => index))
      }),
      { numRuns: 200 },
    )
  })

  test('is typed by its values', () => {
    expectTypeOf(channel<string>(limits)).toEqualTypeOf<Channel<string>>()
    expectTypeOf<Channel<string>['push']>().returns.toEqualTypeOf<void | Promise<void>>()
  })
})
