import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../test/_util/manual-clock.ts'
import { deferred } from '../../test/_util/scripted-dispatcher.ts'
import { abortable } from './abortable.ts'
import { systemClock } from './clock.ts'
import { within } from './within.ts'

describe('within', () => {
  test('says whether a promise settled in time, and leaves no timer', async () => {
    const clock = createManualClock()
    expect(await within(Promise.resolve(), 10, clock)).toBe(true)
    const never = within(new Promise(() => undefined), 10, clock)
    clock.advance(10)
    expect(await never).toBe(false)
    await expect(within(Promise.reject(new Error('x')), 10, clock)).rejects.toThrow('x')
    expect(clock.waiting).toBe(0)
  })
})

describe('abortable', () => {
  test('settles as the promise does, or with the reason of the signal', async () => {
    const { signal } = new AbortController()
    expect(await abortable(Promise.resolve(1), signal)).toBe(1)
    await expect(abortable(Promise.reject(new Error('x')), signal)).rejects.toThrow('x')
    const stop = new AbortController()
    const late = deferred<number>()
    const waiting = abortable(late.promise, stop.signal)
    const reason = new Error('enough')
    stop.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    late.reject(new Error('too late, and nobody is hurt'))
    await expect(abortable(Promise.resolve(1), stop.signal)).rejects.toBe(reason)
  })
})

describe('the clock of the platform', () => {
  test('runs once after its time, unless it is disposed before', async () => {
    const ran: string[] = []
    const start = systemClock.now()
    await new Promise<void>((resolve) => {
      const timer = systemClock.after(5, () => ran.push('disposed'))
      systemClock.after(20, () => {
        ran.push('waited')
        resolve()
      })
      timer[Symbol.dispose]()
    })
    expect(ran).toEqual(['waited'])
    expect(systemClock.now() - start).toBeGreaterThan(10)
  })
})
