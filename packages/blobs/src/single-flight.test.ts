import { expect, test } from 'vitest'
import { createSingleFlight } from './single-flight.ts'

/** An attempt that ends when it is told to. */
function attempt<T>(): { start: (signal: AbortSignal) => Promise<T>; end: (value: T) => void; signals: AbortSignal[] } {
  let end: (value: T) => void = () => undefined
  const outcome = new Promise<T>((resolve) => {
    end = resolve
  })
  const signals: AbortSignal[] = []
  return {
    start: (signal) => {
      signals.push(signal)
      return outcome
    },
    end: (value) => end(value),
    signals,
  }
}

test('those who come together share one attempt; each takes its own part, and then it is released once', async () => {
  const told: string[] = []
  const flight = createSingleFlight<string, string>({
    take: (value) => `${value} ${told.push('take')}`,
    release: () => void told.push('release'),
  })
  const { start, end, signals } = attempt<string>()
  const joined = [flight('a', start), flight('a', start), flight('a', start)]
  end('x')
  expect(await Promise.all(joined)).toEqual(['x 1', 'x 2', 'x 3'])
  await new Promise(setImmediate)
  expect([told, signals.length]).toEqual([['take', 'take', 'take', 'release'], 1])
})

test('who comes later, or for another key, starts anew', async () => {
  const flight = createSingleFlight<number, number>({ take: (value) => value })
  let count = 0
  const start = (): Promise<number> => Promise.resolve(++count)
  expect(await Promise.all([flight('a', start), flight('b', start)])).toEqual([1, 2])
  expect(await flight('a', start)).toBe(3)
})

test('an attempt goes on as long as one waits, and is stopped when nobody does; what it gives then is released', async () => {
  const released: string[] = []
  const flight = createSingleFlight<string, string>({
    take: (value) => value,
    release: (value) => void released.push(value),
  })
  const { start, end, signals } = attempt<string>()
  const [first, second] = [new AbortController(), new AbortController()]
  const joined = [flight('a', start, { signal: first.signal }), flight('a', start, { signal: second.signal })]
  first.abort('first')
  await expect(joined[0]).rejects.toBe('first')
  expect(signals[0]?.aborted).toBe(false)
  second.abort('second')
  await expect(joined[1]).rejects.toBe('second')
  expect(signals[0]?.aborted).toBe(true)
  end('late')
  await new Promise(setImmediate)
  expect(released).toEqual(['late'])
})

test('who comes after all have left does not get what was stopped', async () => {
  const flight = createSingleFlight<string, string>({ take: (value) => value })
  const stop = new AbortController()
  const left = flight('a', () => new Promise(() => undefined), { signal: stop.signal })
  stop.abort('left')
  await expect(left).rejects.toBe('left')
  expect(await flight('a', () => Promise.resolve('new'))).toBe('new')
})

test('a failure is told to all, releases nothing, and leaves nothing unhandled', async () => {
  const released: unknown[] = []
  const flight = createSingleFlight<string, string>({
    take: (value) => value,
    release: (value) => void released.push(value),
  })
  const failure = new Error('failed')
  const joined = [flight('a', () => Promise.reject(failure)), flight('a', () => Promise.resolve('other'))]
  for (const one of joined) await expect(one).rejects.toBe(failure)
  await new Promise(setImmediate)
  expect(released).toEqual([])
})

test('who is aborted already starts nothing', async () => {
  const flight = createSingleFlight<string, string>({ take: (value) => value })
  let isStarted = false
  const start = (): Promise<string> => {
    isStarted = true
    return Promise.resolve('x')
  }
  await expect(flight('a', start, { signal: AbortSignal.abort('no') })).rejects.toBe('no')
  expect(isStarted).toBe(false)
})
