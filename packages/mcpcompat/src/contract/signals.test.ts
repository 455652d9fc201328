import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { linkSignals } from './signals.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('linkSignals', () => {
  test('aborts with the reason of the source that aborts first, unchanged', () => {
    const [first, second] = [new AbortController(), new AbortController()]
    using linked = linkSignals([undefined, first.signal, second.signal])
    const reason = { not: 'an error' }
    second.abort(reason)
    first.abort(new Error('later'))
    expect(linked.signal.reason).toBe(reason)
  })

  test('is aborted from the start when a source is', () => {
    const reason = new Error('before')
    const other = new AbortController()
    using linked = linkSignals([other.signal, AbortSignal.abort(reason)], { timeoutMs: 1 })
    expect(linked.signal.aborted).toBe(true)
    expect(linked.signal.reason).toBe(reason)
    expect(getEventListeners(other.signal, 'abort')).toHaveLength(0)
  })

  test('can be aborted by hand, once', () => {
    const source = new AbortController()
    using linked = linkSignals([source.signal])
    linked.abort('mine')
    linked.abort('again')
    source.abort('theirs')
    expect(linked.signal.reason).toBe('mine')
    expect(source.signal.aborted).toBe(true)
  })

  test('a source has one listener however many follow it, and none after the last is disposed', () => {
    const source = new AbortController()
    const links = Array.from({ length: 1000 }, () => linkSignals([source.signal, source.signal]))
    expect(getEventListeners(source.signal, 'abort')).toHaveLength(1)
    for (const link of links.splice(1)) link[Symbol.dispose]()
    expect(getEventListeners(source.signal, 'abort')).toHaveLength(1)
    links[0]?.[Symbol.dispose]()
    expect(getEventListeners(source.signal, 'abort')).toHaveLength(0)
    using again = linkSignals([source.signal])
    source.abort('reason')
    expect(again.signal.reason).toBe('reason')
  })

  test('a disposed link hears nothing, and the others still do', () => {
    const source = new AbortController()
    const gone = linkSignals([source.signal])
    using kept = linkSignals([source.signal])
    gone[Symbol.dispose]()
    gone[Symbol.dispose]()
    source.abort('reason')
    expect(gone.signal.aborted).toBe(false)
    expect(kept.signal.reason).toBe('reason')
  })

  test('one abort reaches all followers, also when one disposes another on the way', () => {
    const source = new AbortController()
    const links = Array.from({ length: 3 }, () => linkSignals([source.signal]))
    links[0]?.signal.addEventListener('abort', () => links[1]?.[Symbol.dispose]())
    source.abort('reason')
    expect(links.map((link) => link.signal.aborted)).toEqual([true, false, true])
  })

  test('nothing stays behind: a long-lived source keeps no link alive', async () => {
    const source = new AbortController()
    const collected: Promise<void>[] = []
    const registry = new FinalizationRegistry<() => void>((resolve) => resolve())
    for (let call = 0; call < 50; call++) {
      const linked = linkSignals([source.signal], { timeoutMs: 60_000 })
      collected.push(new Promise((resolve) => registry.register(linked.signal, resolve)))
      linked[Symbol.dispose]()
    }
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc') as () => void
    const timer = setInterval(gc, 10)
    await expect(Promise.all(collected)).resolves.toHaveLength(50)
    clearInterval(timer)
    expect(source.signal.aborted).toBe(false)
  })

  test('a time limit aborts with a TimeoutError, and a disposed one never', () => {
    vi.useFakeTimers()
    using linked = linkSignals([], { timeoutMs: 50 })
    const disposed = linkSignals([], { timeoutMs: 50 })
    disposed[Symbol.dispose]()
    vi.advanceTimersByTime(49)
    expect(linked.signal.aborted).toBe(false)
    vi.advanceTimersByTime(1)
    expect(linked.signal.reason).toMatchObject({ name: 'TimeoutError' })
    expect(disposed.signal.aborted).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('an abort ends the time limit', () => {
    vi.useFakeTimers()
    const linked = linkSignals([], { timeoutMs: 50 })
    linked.abort('reason')
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each([undefined, Number.POSITIVE_INFINITY])('a limit of %s is none', (timeoutMs) => {
    vi.useFakeTimers()
    using linked = linkSignals([], { timeoutMs })
    expect(vi.getTimerCount()).toBe(0)
    expect(linked.signal.aborted).toBe(false)
  })

  test('a limit of years does not fire at once', async () => {
    using linked = linkSignals([], { timeoutMs: 1e12 })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(linked.signal.aborted).toBe(false)
  })
})
