import { type Call, type Diagnostic, type LogLevel, logLevels, toObject } from '@atenea/mcpcompat'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { resultOf } from '../test/_util/calls.ts'
import { createCore } from './core.ts'
import type { HandlerContext } from './handler-context.ts'
import { logRate, progressRate } from './progress.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => vi.useRealTimers())

const info = { name: 'test', version: '1' }

/** What a handler sends while it runs. */
async function sent(
  handler: (context: HandlerContext) => unknown,
  context: { progressToken?: string | number; logLevel?: LogLevel } = { progressToken: 1, logLevel: 'debug' },
  logging = true,
): Promise<{ notices: Call[]; diagnostics: Diagnostic[] }> {
  const notices: Call[] = []
  const diagnostics: Diagnostic[] = []
  const core = createCore({
    info,
    logging,
    tools: [{ name: 't', handler: (_args, own) => Promise.resolve(handler(own)).then(() => '') }],
    onDiagnostic: (one) => diagnostics.push(one),
  })
  await resultOf(core, 'tools/call', { name: 't' }, { ...context, onNotice: (notice) => void notices.push(notice) })
  return { notices, diagnostics }
}

const steps = (notices: Call[]) => notices.map(({ params }) => toObject(params).progress)

describe('progress', () => {
  test('MC-PROG-03, MC-PROG-05: is sent without a token, which the codec adds', async () => {
    const { notices } = await sent(async ({ progress }) => {
      await progress(0)
      await progress(0.5, 2, 'half')
      await progress(2, 2)
      await progress(3, Number.NaN)
    })
    expect(notices).toEqual([
      { method: 'notifications/progress', params: { progress: 0 } },
      { method: 'notifications/progress', params: { progress: 0.5, total: 2, message: 'half' } },
      { method: 'notifications/progress', params: { progress: 2, total: 2 } },
      { method: 'notifications/progress', params: { progress: 3 } },
    ])
  })

  test('is not sent to whoever did not ask', async () => {
    expect(await sent(({ progress }) => progress(1), {})).toEqual({ notices: [], diagnostics: [] })
  })

  test('MC-PROG-04, LG-PROG-02: only grows', async () => {
    const { notices, diagnostics } = await sent(({ progress }) => {
      for (const step of [1, 1, 0, 2, Number.NaN, Infinity, 1.5, 3]) void progress(step)
    })
    expect(steps(notices)).toEqual([1, 2, 3])
    expect(diagnostics.map(({ code }) => code)).toEqual(Array(5).fill('progress-not-growing'))
  })

  test('MC-PROG-07: comes at a bounded rate, and the end always', async () => {
    const { notices } = await sent(({ progress }) => {
      for (let step = 1; step < 100; step++) void progress(step, 100)
      vi.advanceTimersByTime(100)
      void progress(99.1, 100)
      void progress(99.2, 100)
      void progress(99.3, 100)
      void progress(100, 100)
    })
    const burst = Array.from({ length: progressRate.burst }, (_, n) => n + 1)
    expect(steps(notices)).toEqual([...burst, 99.1, 99.2, 100])
  })

  test('MC-PROG-06, E8: stops with the result', async () => {
    let late: HandlerContext | undefined
    const { notices } = await sent((context) => {
      late = context
      void context.progress(1)
    })
    void late?.progress(2)
    void late?.log('error', 'late')
    expect(steps(notices)).toEqual([1])
  })

  test('tells the handler when the caller has no room', async () => {
    let taken = false
    const core = createCore({
      info,
      tools: [
        {
          name: 't',
          handler: async (_args, { progress }) => {
            await progress(1)
            return String(taken)
          },
        },
      ],
    })
    const onNotice = () => new Promise<void>((resolve) => setImmediate(resolve)).then(() => void (taken = true))
    expect(await resultOf(core, 'tools/call', { name: 't' }, { progressToken: 't', onNotice })).toEqual({
      content: [{ type: 'text', text: 'true' }],
    })
  })
})

describe('log messages', () => {
  const all = ({ log }: HandlerContext): void => {
    for (const level of logLevels) void log(level, { at: level }, 'mine')
  }

  test('MC-LOG-03, MC-LOG-06: go to whoever asked for their level', async () => {
    expect((await sent(all, { logLevel: 'critical' })).notices).toEqual(
      (['critical', 'alert', 'emergency'] as const).map((level) => ({
        method: 'notifications/message',
        params: { level, data: { at: level }, logger: 'mine' },
      })),
    )
    expect((await sent(({ log }) => log('info', 'text'), { logLevel: 'debug' })).notices).toEqual([
      { method: 'notifications/message', params: { level: 'info', data: 'text' } },
    ])
  })

  test('MC-LOG-03: what has no JSON text is null, since a message without data is none', async () => {
    const { notices } = await sent(({ log }) => {
      for (const data of [undefined, () => 1, Symbol('x')]) void log('info', data as never)
    })
    expect(notices.map(({ params }) => toObject(params))).toEqual([1, 2, 3].map(() => ({ level: 'info', data: null })))
  })

  test('MC-LOG-02: go to nobody else', async () => {
    expect((await sent(all, {})).notices).toEqual([])
  })

  test('MC-LOG-01: are sent only by a core that advertises them', async () => {
    expect((await sent(all, { logLevel: 'debug' }, false)).notices).toEqual([])
    const view = async (logging: boolean) =>
      (await createCore({ info, logging }).view({ id: 'x', authenticated: true })).capabilities
    expect(await view(true)).toEqual({ logging: {} })
    expect(await view(false)).toEqual({})
  })

  test('MC-LOG-07: come at a bounded rate', async () => {
    const { notices } = await sent(({ log }) => {
      for (let n = 0; n < 1000; n++) void log('info', n)
      vi.advanceTimersByTime(1000)
      for (let n = 0; n < 1000; n++) void log('info', n)
    })
    expect(notices).toHaveLength(logRate.burst + logRate.perSecond)
  })
})

test('members of the context may be taken out of it and used more than once', async () => {
  const { notices } = await sent(async (context) => {
    const { progress, log, supports } = context
    expect(context.progress).toBe(progress)
    expect(context.log).toBe(log)
    expect(typeof supports).toBe('function')
    await progress(1)
    await context.progress(2)
  })
  expect(steps(notices)).toEqual([1, 2])
})
