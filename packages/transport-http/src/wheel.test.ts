import type { Clock } from '@atenea/mcpcompat/transport'
import { expect, test } from 'vitest'
import { Rider, Wheel } from './wheel.ts'

/** A clock that stands still until it is moved, and can be late. */
class HandClock implements Clock {
  time = 0
  #timers: { at: number; run: () => void }[] = []

  now(): number {
    return this.time
  }

  after(delayMs: number, run: () => void): Disposable {
    const timer = { at: this.time + delayMs, run }
    this.#timers.push(timer)
    return { [Symbol.dispose]: () => void (this.#timers = this.#timers.filter((one) => one !== timer)) }
  }

  get waiting(): number {
    return this.#timers.length
  }

  /** Moves on, running what comes due at the time it is due. */
  run(toMs: number): void {
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= toMs).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.time = Math.max(this.time, next.at)
      this.#timers = this.#timers.filter((one) => one !== next)
      next.run()
    }
    this.time = toMs
  }

  /** Jumps on, and only then runs what is due. */
  jump(toMs: number): void {
    this.time = toMs
    this.run(toMs)
  }
}

class Passenger extends Rider {
  readonly times: number[] = []
  readonly #clock: HandClock

  constructor(clock: HandClock) {
    super()
    this.#clock = clock
  }

  override turn(): void {
    this.times.push(this.#clock.time)
  }
}

test('a rider hears of each turn, and of none after it was taken off', () => {
  const clock = new HandClock()
  const wheel = new Wheel(clock, 160)
  const one = new Passenger(clock)
  wheel.add(one)
  clock.run(159)
  expect(one.times).toEqual([])
  clock.run(480)
  expect(one.times).toEqual([160, 320, 480])
  one.leave()
  clock.run(1_000)
  expect(one.times).toHaveLength(3)
})

test('riders are spread over the turn, by when they came', () => {
  const clock = new HandClock()
  const wheel = new Wheel(clock, 160)
  const [early, late] = [new Passenger(clock), new Passenger(clock)]
  wheel.add(early)
  clock.run(85)
  wheel.add(late)
  clock.run(320)
  expect(early.times).toEqual([160, 320])
  expect(late.times).toEqual([240])
})

test('no timer runs while nobody sits on it', () => {
  const clock = new HandClock()
  const wheel = new Wheel(clock, 160)
  expect(clock.waiting).toBe(0)
  const one = new Passenger(clock)
  wheel.add(one)
  expect(clock.waiting).toBe(1)
  one.leave()
  clock.run(1_000)
  expect(clock.waiting).toBe(0)
  wheel.add(one)
  clock.run(1_161)
  expect(one.times).toHaveLength(1)
  wheel.clear()
  expect(clock.waiting).toBe(0)
})

test('a process that was busy catches up, and one that slept for long does not call twice', () => {
  const clock = new HandClock()
  const wheel = new Wheel(clock, 160)
  const one = new Passenger(clock)
  wheel.add(one)
  clock.jump(165)
  expect(one.times).toEqual([165])
  clock.jump(100_000)
  expect(one.times).toEqual([165, 100_000])
  clock.run(100_170)
  expect(one.times).toHaveLength(3)
})

test('a rider may leave, and another come, while the wheel turns', () => {
  const clock = new HandClock()
  const wheel = new Wheel(clock, 160)
  const [neighbour, second] = [new Passenger(clock), new Passenger(clock)]
  class Leaver extends Rider {
    override turn(): void {
      this.leave()
      neighbour.leave()
      wheel.add(second)
    }
  }
  wheel.add(new Leaver())
  wheel.add(neighbour)
  clock.run(320)
  expect(neighbour.times).toEqual([])
  expect(second.times).toEqual([320])
  wheel.clear()
})

test('a rider that fails keeps nobody from the next turn', () => {
  const clock = new HandClock()
  const wheel = new Wheel(clock, 160)
  const [before, after] = [new Passenger(clock), new Passenger(clock)]
  class Failing extends Rider {
    override turn(): void {
      throw new Error('fails')
    }
  }
  const failing = new Failing()
  for (const rider of [before, failing, after]) wheel.add(rider)
  expect(() => clock.run(160)).toThrow('fails')
  failing.leave()
  wheel.add(new Passenger(clock))
  clock.run(480)
  expect(before.times.length).toBeGreaterThan(1)
  expect(after.times).not.toEqual([])
})

test('those who were taken off with the whole wheel may leave it once more', () => {
  const clock = new HandClock()
  const wheel = new Wheel(clock, 160)
  const riders = [new Passenger(clock), new Passenger(clock), new Passenger(clock)]
  for (const rider of riders) wheel.add(rider)
  wheel.clear()
  for (const rider of riders) rider.leave()
  const fresh = new Passenger(clock)
  wheel.add(fresh)
  clock.run(320)
  expect(riders.flatMap(({ times }) => times)).toEqual([])
  expect(fresh.times).toEqual([160, 320])
})
