import { TransportError, createRevisionPolicy, legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { type ClientConnection, createCallerContext } from '@atenea/mcpcompat/transport'
import { ServerExitError } from '@atenea/transport-stdio'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { connect, echo } from './_util/connecting.ts'
import { mark } from './_util/fixtures.ts'
import { processesWith, until } from './_util/processes.ts'

// Processes start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

afterEach(async () => {
  await until(() => processesWith(mark).length === 0)
})

describe('a verdict about a real process', () => {
  test.each([
    ['a modern server', 'modern', [modernRevision], 'S01', modernRevision],
    [
      'a server that refuses the revision and lists a legacy one',
      'refuses-version',
      [legacyRevision],
      'S06',
      legacyRevision,
    ],
    [
      'a server that refuses the first probe and takes the second',
      'refuses-version',
      [modernRevision],
      'S01',
      modernRevision,
    ],
    ['a legacy server', 'legacy', [], 'S09', legacyRevision],
    ['a server that answers with an empty result', 'refuses-probe', ['empty-result'], 'S05', legacyRevision],
    ['A1: one that answers without an id', 'refuses-probe', ['null-id'], 'S10', legacyRevision],
    ['A1: one that answers in a batch', 'refuses-probe', ['batch'], 'S17', legacyRevision],
    ['A1: -32602', 'refuses-probe', ['{"code":-32602,"message":"initialize first"}'], 'S09', legacyRevision],
    ['A1: -32600', 'refuses-probe', ['{"code":-32600,"message":"m"}'], 'S09', legacyRevision],
    ['A1: -32000', 'refuses-probe', ['{"code":-32000,"message":"m"}'], 'S09', legacyRevision],
    ['A2: one that exits on the probe', 'dies-on-probe', [], 'S12', legacyRevision],
    ['S14: a noisy one', 'noisy', [], 'S09', legacyRevision],
    ['D5, D19: one that prints garbage before every answer', 'prints-garbage', [], 'S09', legacyRevision],
  ])('%s', async (_, name, args, row, observed) => {
    const { connecting } = connect(name, args)
    await using connection = await connecting
    expect(connection).toMatchObject({ row, observed })
    expect(processesWith(mark)).toHaveLength(1)
    expect(await echo(connection, { text: '読🎉' })).toMatchObject({
      content: [{ type: 'text', text: '{"text":"読🎉"}' }],
    })
  })
})

describe('A2: a server that exits on the probe', () => {
  test('is started again once, and exactly one lives after that', async () => {
    const { connecting, started } = connect('dies-on-probe')
    await using connection = await connecting
    expect(started).toEqual(['first', 'restart'])
    expect(processesWith(mark)).toHaveLength(1)
    expect(connection.verdict).toEqual({ era: 'legacy', revision: legacyRevision })
  })

  test('and exits again is an error with what it said', async () => {
    const { connecting, started } = connect('dies-on-probe', ['always'])
    await expect(connecting).rejects.toMatchObject({
      kind: 'closed',
      message: expect.stringMatching(/exited with code 1.*unexpected initialize/) as unknown,
    })
    expect(started).toEqual(['first', 'restart'])
  })
})

describe('a silent server', () => {
  test('gets a sibling, and only that one lives after', async () => {
    const { connecting, started } = connect('silent-on-probe', [], { siblingAfterMs: 300 })
    await using connection = await connecting
    expect(started).toEqual(['first', 'sibling'])
    expect(connection.observed).toBe(legacyRevision)
    await until(() => processesWith(mark).length === 1)
    expect(await echo(connection, {})).toMatchObject({ content: [{ text: '{}' }] })
  })

  test('is legacy on the same process when the probe timeout has passed', async () => {
    const { connecting, started } = connect('silent-on-probe', [], { siblingAfterMs: false, probeTimeoutMs: 500 })
    await using connection = await connecting
    expect(started).toEqual(['first'])
    expect(connection.row).toBe('S11')
  })

  test('is a timeout when it says nothing to the handshake either, and nothing is left', async () => {
    const { connecting } = connect('silent-on-probe', ['always'], { siblingAfterMs: 100, probeTimeoutMs: 300 })
    await expect(connecting).rejects.toMatchObject({ kind: 'timeout' })
  })

  test.each([
    ['ignores', modernRevision, { era: 'modern', revision: modernRevision }],
    ['refuses', modernRevision, { era: 'modern', revision: modernRevision }],
    ['accepts', legacyRevision, undefined],
  ])('A-06: that answers late and %s initialize', async (how, observed, verdict) => {
    const { connecting } = connect('late', [modernRevision, how], {
      siblingAfterMs: false,
      probeTimeoutMs: 800,
      handshakeTimeoutMs: 20_000,
    })
    await using connection = await connecting
    await echo(connection, {})
    await vi.waitFor(() => expect(connection.verdict).toEqual(verdict), { timeout: 10_000 })
    expect(connection.observed).toBe(observed)
  })
})

describe('a server that cannot be used', () => {
  test('one that lists a legacy revision and then refuses its handshake', async () => {
    const { connecting } = connect('modern', [legacyRevision])
    await expect(connecting).rejects.toMatchObject({
      kind: 'protocol',
      message: expect.stringContaining('refused initialize') as unknown,
    })
  })

  test('D7: one that speaks Content-Length framing is diagnosed at once, and started once', async () => {
    const { connecting, started } = connect('content-length')
    await expect(connecting).rejects.toMatchObject({
      kind: 'protocol',
      message: expect.stringContaining('Content-Length framing') as unknown,
    })
    expect(started).toEqual(['first'])
  })

  test('S13: one that cannot be started', async () => {
    const { connecting } = connect('legacy', [], {}, { command: 'atenea-no-such-command' })
    await expect(connecting).rejects.toMatchObject({ kind: 'unreachable' })
  })

  test('one that insists on a revision that is switched off; the error names the switch', async () => {
    const { connecting } = connect('legacy', ['2024-11-05'])
    await expect(connecting).rejects.toMatchObject({
      kind: 'protocol',
      message: expect.stringMatching(/2024-11-05.*--legacy-revisions/) as unknown,
    })
  })

  test('the same with the revision switched on', async () => {
    const policy = createRevisionPolicy({ legacy: [legacyRevision, '2024-11-05'] })
    await using connection = await connect('legacy', ['2024-11-05'], { policy }).connecting
    expect(connection).toMatchObject({ requested: legacyRevision, observed: '2024-11-05' })
  })
})

describe('D14: a server that ends while calls are open', () => {
  test('calls fail at once with its exit code and its last words, without what the caller redacts', async () => {
    const redact = (line: string): string => line.replace('zzz', '***')
    const connection = await connect('exits-with-pending-call', [], {}, { redact }).connecting
    const calls = await Promise.allSettled([echo(connection, {}), echo(connection, {})])
    for (const call of calls) {
      if (call.status === 'fulfilled') throw new Error('a lost call cannot have a result')
      expect(TransportError.is(call.reason) && call.reason.kind).toBe('unknown-outcome')
      expect(String(call.reason)).toMatch(/exited with code 7.*out of memory, token=\*\*\*/)
      expect(call.reason.cause).toBeInstanceOf(ServerExitError)
    }
    expect(await connection.ended).toBeInstanceOf(ServerExitError)
    await connection[Symbol.asyncDispose]()
  })

  test('one that closes its output but lives counts as ended', async () => {
    const connection = await connect('closes-stdout').connecting
    await expect(echo(connection, {})).rejects.toMatchObject({ kind: 'unknown-outcome' })
    await connection[Symbol.asyncDispose]()
  })
})

describe('D13: processes', () => {
  test('a server that ignores the end of its input and SIGTERM is gone after dispose', async () => {
    const connection = await connect('ignores-everything', [], {}, { closeTimeoutMs: 200, termTimeoutMs: 200 })
      .connecting
    await connection[Symbol.asyncDispose]()
    expect(processesWith(mark)).toEqual([])
  })

  test('what a server has started goes with it', async () => {
    const connection = await connect('forks', [], {}, { closeTimeoutMs: 200, termTimeoutMs: 200 }).connecting
    await until(() => processesWith(mark).length === 2)
    await connection[Symbol.asyncDispose]()
    await until(() => processesWith(mark).length === 0)
    expect(await connection.ended).toBeUndefined()
  })

  test('200 calls of which half are aborted leave one process, and it goes on', async () => {
    await using connection = await connect('legacy').connecting
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, async (_, index) => {
        const controller = new AbortController()
        const call = { method: 'tools/call', params: { name: 'echo', arguments: { index } } }
        const calling = connection.call(call, createCallerContext({ signal: controller.signal }))
        if (index % 2 === 0) controller.abort(new Error('no more'))
        return await calling
      }),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(100)
    expect(processesWith(mark)).toHaveLength(1)
    expect(await echo(connection, { still: 'there' })).toMatchObject({ content: [{ text: '{"still":"there"}' }] })
  })

  test('200 connects that are aborted at any moment leave nothing', async () => {
    let aborted = 0
    for (let batch = 0; batch < 20; batch += 1) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          const controller = new AbortController()
          const reason = new Error('no more')
          const { connecting } = connect('legacy', [], { signal: controller.signal }, { closeTimeoutMs: 100 })
          setTimeout(() => controller.abort(reason), index * 12)
          const outcome: unknown = await connecting.catch((error: unknown) => error)
          if (outcome === reason) aborted += 1
          else await (outcome as ClientConnection)[Symbol.asyncDispose]()
        }),
      )
    }
    await until(() => processesWith(mark).length === 0)
    await until(() => processesWith(`atenea-orphan-guard-of-${process.pid}`).length === 0)
    expect(aborted).toBeGreaterThan(0)
  })
})
