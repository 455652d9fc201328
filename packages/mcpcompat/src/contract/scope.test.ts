import { describe, expect, test } from 'vitest'
import { createScope } from './scope.ts'

describe('createScope', () => {
  test('closes at once when nothing was deferred', () => {
    const scope = createScope()
    expect(scope.closed).toBe(false)
    expect(scope.close()).toBeUndefined()
    expect(scope.closed).toBe(true)
  })

  test('runs disposers last in first out, without a promise when none gave one', () => {
    const scope = createScope()
    const ran: number[] = []
    for (const n of [1, 2, 3]) scope.defer(() => void ran.push(n))
    expect(scope.close()).toBeUndefined()
    expect(ran).toEqual([3, 2, 1])
    expect(scope.close()).toBeUndefined()
    expect(ran).toEqual([3, 2, 1])
  })

  test('waits for each disposer before the next one runs', async () => {
    const scope = createScope()
    const ran: string[] = []
    scope.defer(() => void ran.push('first deferred'))
    scope.defer(async () => {
      ran.push('begins')
      await new Promise((resolve) => setTimeout(resolve, 5))
      ran.push('ends')
    })
    scope.defer(() => void ran.push('last deferred'))
    const closing = scope.close()
    expect(scope.closed).toBe(true)
    expect(ran).toEqual(['last deferred', 'begins'])
    expect(scope.close()).toBe(closing)
    await closing
    expect(ran).toEqual(['last deferred', 'begins', 'ends', 'first deferred'])
  })

  test('a disposer that fails does not stop the others; one failure is thrown as it is', () => {
    const scope = createScope()
    const failure = new Error('one')
    let ran = false
    scope.defer(() => {
      ran = true
    })
    scope.defer(() => {
      throw failure
    })
    expect(() => scope.close()).toThrow(failure)
    expect(ran).toBe(true)
    expect(scope.closed).toBe(true)
  })

  test('several failures, synchronous or not, are reported together', async () => {
    const scope = createScope()
    const [third, second, first] = [new Error('third'), new Error('second'), new Error('first')]
    scope.defer(() => {
      throw first
    })
    scope.defer(() => Promise.reject(second))
    scope.defer(() => {
      throw third
    })
    const closing = scope.close()
    await expect(closing).rejects.toBeInstanceOf(AggregateError)
    await expect(closing).rejects.toMatchObject({ errors: [third, second, first] })
  })

  test('what is deferred after the end, or while it is ending, runs at once', () => {
    const scope = createScope()
    const ran: string[] = []
    scope.defer(() => {
      scope.defer(() => void ran.push('inner'))
      ran.push('outer')
    })
    void scope.close()
    scope.defer(() => void ran.push('late'))
    expect(ran).toEqual(['inner', 'outer', 'late'])
  })

  test('late failures go to who asked for them, or to who deferred', async () => {
    const heard: unknown[] = []
    const scope = createScope({ onLateError: (error) => heard.push(error) })
    void scope.close()
    const [first, second] = [new Error('thrown'), new Error('rejected')]
    scope.defer(() => {
      throw first
    })
    scope.defer(() => Promise.reject(second))
    await Promise.resolve()
    await Promise.resolve()
    expect(heard).toEqual([first, second])

    const plain = createScope()
    void plain.close()
    expect(() =>
      plain.defer(() => {
        throw first
      }),
    ).toThrow(first)
  })

  test('state belongs to one scope and is gone with it', () => {
    const key = Symbol('key')
    const scope = createScope()
    scope.state.set(key, 1)
    expect(scope.state.get(key)).toBe(1)
    expect(createScope().state.has(key)).toBe(false)
    let seen: unknown
    scope.defer(() => {
      seen = scope.state.get(key)
    })
    void scope.close()
    expect(seen).toBe(1)
    expect(scope.state.has(key)).toBe(false)
  })
})
