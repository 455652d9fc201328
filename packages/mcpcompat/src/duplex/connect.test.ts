import { describe, expect, test } from 'vitest'
import { createCallerContext } from '../contract/caller-context.ts'
import type { Clock } from '../contract/clock.ts'
import type { Connection } from '../contract/connection.ts'
import type { Diagnostic } from '../contract/diagnostics.ts'
import { TransportError, rpcCode } from '../jsonrpc/errors.ts'
import { type JsonObject, toObject } from '../jsonrpc/json.ts'
import type { RpcMessage, RpcRequest } from '../jsonrpc/message.ts'
import { createRevisionPolicy, legacyRevision, modernRevision } from '../revisions.ts'
import { createManualClock } from '../../test/_util/manual-clock.ts'
import { type ConnectDuplexOptions, type DialPurpose, connectDuplex } from './connect.ts'
import { createMemoryPair } from './memory.ts'

/** One end that a test plays the server with. */
interface FakeServer {
  send(message: RpcMessage): void
  /** Ends the connection, as a process does that exits. */
  exit(): void
}

type Behaviour = (message: RpcMessage, server: FakeServer) => void

interface World {
  readonly dial: (options: { readonly purpose: DialPurpose }) => Promise<Connection>
  /** Everything that was dialled: why, what the server got, and whether the connection lives. */
  readonly dialled: { readonly purpose: DialPurpose; readonly received: RpcMessage[]; open: boolean }[]
}

/** Servers that behave like this, one connection after the other; the last behaviour serves all further ones. */
function world(...behaviours: readonly Behaviour[]): World {
  const dialled: World['dialled'] = []
  return {
    dialled,
    dial({ purpose }) {
      const [client, server] = createMemoryPair()
      const behave = behaviours[Math.min(dialled.length, behaviours.length - 1)]
      const entry = { purpose, received: [] as RpcMessage[], open: true }
      dialled.push(entry)
      const fake: FakeServer = {
        send: (message) => void server.send(message),
        exit: () => void server[Symbol.asyncDispose](),
      }
      void (async () => {
        for await (const batch of server.inbound) {
          for (const { message } of batch) {
            if (message.kind === 'reject') continue
            entry.received.push(message)
            behave?.(message, fake)
          }
        }
        entry.open = false
      })()
      return Promise.resolve(client)
    },
  }
}

/** Time that passes only when a test says so, with all that follows from it. */
function testClock(): Clock & { advance(ms: number): Promise<void> } {
  const clock = createManualClock()
  return {
    ...clock,
    async advance(ms) {
      await settled()
      clock.advance(ms)
      await settled()
    },
  }
}

/** Everything that needs no time has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}

const info = { name: 'client', version: '1' }
const discovered: JsonObject = {
  resultType: 'complete',
  supportedVersions: [modernRevision],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'server', version: '2' } },
}

function connect(
  { dial }: World,
  options: Partial<ConnectDuplexOptions> = {},
): { connecting: ReturnType<typeof connectDuplex>; clock: ReturnType<typeof testClock>; reported: string[] } {
  const clock = testClock()
  const reported: string[] = []
  const onDiagnostic = ({ code }: Diagnostic): void => void reported.push(code)
  const connecting = connectDuplex(dial, { policy: createRevisionPolicy(), info, clock, onDiagnostic, ...options })
  connecting.catch(() => undefined)
  return { connecting, clock, reported }
}

/** Answers requests by method; what is not here gets no answer. */
function answers(table: Readonly<Record<string, (request: RpcRequest, server: FakeServer) => void>>): Behaviour {
  return (message, server) => {
    if (message.kind === 'request') table[message.method]?.(message, server)
  }
}

const result =
  (value: JsonObject) =>
  ({ id }: RpcRequest, server: FakeServer): void =>
    server.send({ kind: 'result', id, result: value })

const failure =
  (code: number, data?: JsonObject) =>
  ({ id }: RpcRequest, server: FakeServer): void =>
    server.send({ kind: 'error', id, error: { code, message: 'no', ...(data !== undefined && { data }) } })

function initialized(protocolVersion = legacyRevision): (request: RpcRequest, server: FakeServer) => void {
  return result({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'server', version: '2' } })
}

const tools = {
  'tools/call': result({ content: [] }),
  ping: result({}),
}

const modernServer = answers({
  'server/discover': result(discovered),
  'tools/call': result({ resultType: 'complete', content: [] }),
})
const legacyServer = answers({
  initialize: initialized(),
  'server/discover': failure(rpcCode.methodNotFound),
  ...tools,
})

function methodsOf({ received }: { readonly received: readonly RpcMessage[] }): string[] {
  return received.map((message) => ('method' in message ? message.method : message.kind))
}

async function open({ dialled }: World): Promise<DialPurpose[]> {
  await settled()
  return dialled.filter((entry) => entry.open).map(({ purpose }) => purpose)
}

describe('the probe', () => {
  test('MS-ERA-01, MS-ERA-06: is a complete modern request, and the first thing that is sent', async () => {
    const servers = world(modernServer)
    const { connecting } = connect(servers, { capabilities: { elicitation: {} } })
    await using connection = await connecting
    expect(servers.dialled[0]?.received).toEqual([
      {
        kind: 'request',
        id: expect.anything() as unknown,
        method: 'server/discover',
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': modernRevision,
            'io.modelcontextprotocol/clientInfo': info,
            'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
          },
        },
      },
    ])
    expect(connection.row).toBe('S01')
  })

  test('MS-ERA-02: S01, a discovery result with a modern revision in common', async () => {
    const listed = { ...discovered, supportedVersions: ['2099-01-01', modernRevision], instructions: 'Be kind.' }
    const servers = world(answers({ 'server/discover': result(listed) }))
    await using connection = await connect(servers).connecting
    expect(connection).toMatchObject({
      requested: modernRevision,
      observed: modernRevision,
      row: 'S01',
      verdict: { era: 'modern', revision: modernRevision },
      server: { info: { name: 'server', version: '2' }, capabilities: { tools: {} }, instructions: 'Be kind.' },
    })
  })

  test('S02, A-02: the server lists a legacy revision only: the handshake offers exactly that', async () => {
    const policy = createRevisionPolicy({ legacy: ['2025-11-25', legacyRevision] })
    const listed = { ...discovered, supportedVersions: [legacyRevision] }
    const servers = world(answers({ 'server/discover': result(listed), initialize: initialized() }))
    await using connection = await connect(servers, { policy }).connecting
    expect(connection).toMatchObject({ requested: legacyRevision, observed: legacyRevision, row: 'S02' })
    expect(servers.dialled[0]?.received[1]).toMatchObject({
      method: 'initialize',
      params: { protocolVersion: legacyRevision },
    })
  })

  test.each([
    ['S03', result({ ...discovered, supportedVersions: ['2099-01-01'] }), '2099-01-01'],
    ['S04', result({ resultType: 'complete' }), 'supportedVersions'],
    [
      'S06',
      failure(rpcCode.unsupportedVersion, { supported: ['2099-01-01'], requested: modernRevision }),
      '2099-01-01',
    ],
    ['S07', failure(rpcCode.unsupportedVersion), 'without naming'],
    ['S08', failure(rpcCode.headerMismatch), 'headers'],
    ['S08', failure(rpcCode.missingClientCapability, { requiredCapabilities: { sampling: {} } }), 'capability'],
  ])('MS-ERA-03: %s is an error, and initialize is not sent', async (row, answer, says) => {
    const servers = world(answers({ 'server/discover': answer, initialize: initialized() }))
    await expect(connect(servers).connecting).rejects.toMatchObject({
      name: 'TransportError',
      kind: 'protocol',
      message: expect.stringMatching(new RegExp(`${says}.*${row}`)) as unknown,
    })
    expect(servers.dialled.map(methodsOf)).toEqual([['server/discover']])
    expect(await open(servers)).toEqual([])
  })

  test('S06: a refused revision is tried once more where half of a cluster was upgraded', async () => {
    let probes = 0
    const servers = world(
      answers({
        'server/discover': (request, server) => {
          probes += 1
          const refuse = failure(rpcCode.unsupportedVersion, { supported: [modernRevision], requested: modernRevision })
          ;(probes === 1 ? refuse : result(discovered))(request, server)
        },
      }),
    )
    await using connection = await connect(servers).connecting
    expect(connection.observed).toBe(modernRevision)
    const ids = servers.dialled[0]?.received.map((message) => ('id' in message ? message.id : undefined))
    expect(new Set(ids).size).toBe(2)
  })

  test('S06: a second refusal is an error', async () => {
    const refuse = failure(rpcCode.unsupportedVersion, { supported: [modernRevision], requested: modernRevision })
    const servers = world(answers({ 'server/discover': refuse, initialize: initialized() }))
    await expect(connect(servers).connecting).rejects.toMatchObject({ kind: 'protocol' })
    expect(servers.dialled.map(methodsOf)).toEqual([['server/discover', 'server/discover']])
  })

  test('S06, A-02: a refusal that lists a legacy revision of ours selects it', async () => {
    const refuse = failure(rpcCode.unsupportedVersion, { supported: [legacyRevision], requested: modernRevision })
    const servers = world(answers({ 'server/discover': refuse, initialize: initialized() }))
    await using connection = await connect(servers).connecting
    expect(connection).toMatchObject({ observed: legacyRevision, row: 'S06' })
  })

  test.each([
    ['S05', result({})],
    ...[-32_601, -32_602, -32_600, -32_603, -32_700, -32_000, -32_002, -32_004, -32_019, 0, -1, 1234].map(
      (code) => ['S09', failure(code)] as const,
    ),
    [
      'S10',
      (_: RpcRequest, server: FakeServer) =>
        server.send({ kind: 'error', id: undefined, error: { code: -32_600, message: 'm' } }),
    ],
  ] as const)('A1, MS-ERA-04, MS-ERA-05: %s is legacy at once', async (row, answer) => {
    const servers = world(answers({ 'server/discover': answer, initialize: initialized() }))
    await using connection = await connect(servers).connecting
    expect(connection).toMatchObject({ requested: legacyRevision, observed: legacyRevision, row })
    expect(connection.verdict).toEqual({ era: 'legacy', revision: legacyRevision })
    expect(servers.dialled.map(methodsOf)).toEqual([['server/discover', 'initialize', 'notifications/initialized']])
  })

  test('A-61: the handshake after a probe is a pure legacy request with an id of its own', async () => {
    const servers = world(legacyServer)
    await using _connection = await connect(servers).connecting
    const [probe, initialize] = servers.dialled[0]?.received ?? []
    expect(initialize).toEqual({
      kind: 'request',
      id: expect.anything() as unknown,
      method: 'initialize',
      params: { protocolVersion: legacyRevision, capabilities: {}, clientInfo: info },
    })
    expect((initialize as RpcRequest).id).not.toBe((probe as RpcRequest).id)
  })

  test('S14, S15, S18: notifications and answers to others are passed over', async () => {
    const servers = world(
      answers({
        'server/discover': (request, server) => {
          server.send({ kind: 'notification', method: 'notifications/message', params: { level: 'info', data: 'x' } })
          server.send({ kind: 'result', id: 'other', result: discovered })
          failure(rpcCode.methodNotFound)(request, server)
        },
        initialize: initialized(),
      }),
    )
    const { connecting, reported } = connect(servers)
    await using connection = await connecting
    expect(connection.row).toBe('S09')
    expect(reported).toContain('probe-noise')
  })

  test('S16, MC-MSG-10, LG-MSG-01: a request of the server is answered after the verdict legacy, and not before', async () => {
    const servers = world(
      answers({
        'server/discover': (_, server) => server.send({ kind: 'request', id: 'p', method: 'ping', params: undefined }),
        initialize: initialized(),
      }),
    )
    const { connecting, clock } = connect(servers, { siblingAfterMs: false })
    await clock.advance(29_000)
    expect(servers.dialled.map(methodsOf)).toEqual([['server/discover']])
    await clock.advance(1_000)
    await using _connection = await connecting
    expect(servers.dialled[0]?.received).toContainEqual({ kind: 'result', id: 'p', result: {} })
  })

  test('S16, MC-MSG-10, MS-MSG-01: a request of a modern server is never answered', async () => {
    const servers = world(
      answers({
        'server/discover': (request, server) => {
          server.send({ kind: 'request', id: 'p', method: 'ping', params: undefined })
          result(discovered)(request, server)
        },
      }),
    )
    await using _connection = await connect(servers).connecting
    await settled()
    expect(servers.dialled.map(methodsOf)).toEqual([['server/discover']])
  })
})

describe('silence', () => {
  const silent = answers({ initialize: initialized(), ...tools })

  test('MS-ERA-04: S11, no answer in time is legacy on the same connection', async () => {
    const servers = world(silent)
    const { connecting, clock } = connect(servers, { startsProcess: false })
    await clock.advance(4_999)
    expect(servers.dialled.map(methodsOf)).toEqual([['server/discover']])
    await clock.advance(1)
    await using connection = await connecting
    expect(connection).toMatchObject({ observed: legacyRevision, row: 'S11' })
    expect(servers.dialled).toHaveLength(1)
  })

  test('S11: a process has 30 s', async () => {
    const servers = world(silent)
    const { connecting, clock } = connect(servers, { siblingAfterMs: false })
    await clock.advance(29_999)
    expect(servers.dialled.map(methodsOf)).toEqual([['server/discover']])
    await clock.advance(1)
    await using connection = await connecting
    expect(connection.row).toBe('S11')
  })

  /** Answers the probe late, after `initialize` was answered in this way, or not at all. */
  function late(handshake: (request: RpcRequest, server: FakeServer) => void): Behaviour {
    let probe: RpcRequest | undefined
    return answers({
      'server/discover': (request) => {
        probe = request
      },
      initialize: (request, server) => {
        handshake(request, server)
        if (probe !== undefined) result(discovered)(probe, server)
      },
      ...tools,
    })
  }

  test.each([
    ['before the handshake is answered', () => undefined],
    ['after the handshake was refused', failure(rpcCode.unsupportedVersion, { supported: [modernRevision] })],
  ])('A-06: a late discovery result %s switches to modern', async (_, handshake) => {
    const servers = world(late(handshake))
    const { connecting, clock } = connect(servers, { startsProcess: false })
    await clock.advance(5_000)
    await using connection = await connecting
    expect(connection).toMatchObject({ observed: modernRevision, verdict: { era: 'modern' } })
    expect(await open(servers)).toEqual(['first'])
  })

  test('A-06: a late discovery result after the handshake changes nothing but what is remembered', async () => {
    const servers = world(late(initialized()))
    const { connecting, clock } = connect(servers, { startsProcess: false })
    await clock.advance(5_000)
    await using connection = await connecting
    await settled()
    expect(connection).toMatchObject({ observed: legacyRevision, verdict: undefined })
  })

  test('a refused handshake after silence is an error when no late answer comes', async () => {
    const servers = world(answers({ initialize: failure(rpcCode.internalError) }))
    const { connecting, clock } = connect(servers, { startsProcess: false })
    await clock.advance(5_000)
    await clock.advance(2_000)
    await expect(connecting).rejects.toMatchObject({
      kind: 'protocol',
      message: expect.stringContaining('-32603') as unknown,
    })
    expect(await open(servers)).toEqual([])
  })

  test('after 3 s a sibling gets initialize, and a complete answer there is the verdict', async () => {
    const servers = world(silent)
    const { connecting, clock } = connect(servers)
    await clock.advance(2_999)
    expect(servers.dialled).toHaveLength(1)
    await clock.advance(1)
    await using connection = await connecting
    expect(connection).toMatchObject({ observed: legacyRevision, verdict: { era: 'legacy' } })
    expect(servers.dialled.map(methodsOf)).toEqual([['server/discover'], ['initialize', 'notifications/initialized']])
    expect(await open(servers)).toEqual(['sibling'])
  })

  test('a slow modern server is found out to be modern, and its sibling is closed', async () => {
    let answer: () => void = () => undefined
    const servers = world(
      answers({
        'server/discover': (request, server) => {
          answer = () => result(discovered)(request, server)
        },
      }),
    )
    const { connecting, clock } = connect(servers)
    await clock.advance(3_000)
    expect(await open(servers)).toEqual(['first', 'sibling'])
    answer()
    await using connection = await connecting
    expect(connection.observed).toBe(modernRevision)
    expect(await open(servers)).toEqual(['first'])
  })

  test('a sibling that fails changes nothing', async () => {
    const servers = world(silent, (_, server) => server.exit())
    const { connecting, clock, reported } = connect(servers)
    await clock.advance(3_000)
    expect(reported).toContain('sibling-failed')
    await clock.advance(27_000)
    await using connection = await connecting
    expect(connection.row).toBe('S11')
    expect(await open(servers)).toEqual(['first'])
  })

  test('there is no sibling for a running server or when it is not wanted', async () => {
    for (const options of [{ startsProcess: false }, { siblingAfterMs: false }] as const) {
      const servers = world(silent)
      const { connecting, clock } = connect(servers, options)
      await clock.advance(4_000)
      expect(servers.dialled).toHaveLength(1)
      await clock.advance(26_000)
      await (await connecting)[Symbol.asyncDispose]()
    }
  })
})

describe('the end of the connection', () => {
  const diesOnProbe = answers({ 'server/discover': (_, server) => server.exit(), initialize: initialized() })

  test('A2: S12, a server that exits on the probe is started again and gets initialize', async () => {
    const servers = world(diesOnProbe)
    await using connection = await connect(servers).connecting
    expect(connection).toMatchObject({ observed: legacyRevision, row: 'S12', verdict: { era: 'legacy' } })
    expect(servers.dialled.map(({ purpose }) => purpose)).toEqual(['first', 'restart'])
    expect(servers.dialled.map(methodsOf)).toEqual([['server/discover'], ['initialize', 'notifications/initialized']])
    expect(await open(servers)).toEqual(['restart'])
  })

  test('S12: a second exit is an error, and it is not started a third time', async () => {
    const servers = world((_, server) => server.exit())
    await expect(connect(servers).connecting).rejects.toMatchObject({ name: 'TransportError' })
    expect(servers.dialled).toHaveLength(2)
  })

  test('S13: a failed start is passed on as it is', async () => {
    const reason = new TransportError('unreachable', 'no such command')
    await expect(connect({ dial: () => Promise.reject(reason), dialled: [] }).connecting).rejects.toBe(reason)
  })

  test('D7: a peer that cannot be understood is no legacy server that died', async () => {
    const reason = new TransportError('protocol', 'Content-Length framing')
    let dials = 0
    const dial = (): Promise<Connection> => {
      dials += 1
      return Promise.resolve({
        inbound: {
          [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(reason) }),
        },
        send: () => undefined,
        [Symbol.asyncDispose]: () => Promise.resolve(),
      })
    }
    await expect(connect({ dial, dialled: [] }).connecting).rejects.toBe(reason)
    expect(dials).toBe(1)
  })
})

describe('modes', () => {
  test('legacy shakes hands at once', async () => {
    const servers = world(legacyServer)
    await using connection = await connect(servers, { mode: 'legacy' }).connecting
    expect(connection).toMatchObject({ requested: legacyRevision, observed: legacyRevision, row: undefined })
    expect(servers.dialled.map(methodsOf)).toEqual([['initialize', 'notifications/initialized']])
  })

  test('modern discovers too, and is satisfied with a modern server only', async () => {
    const servers = world(modernServer)
    await using connection = await connect(servers, { mode: 'modern' }).connecting
    expect(connection.observed).toBe(modernRevision)
    expect(servers.dialled.map(methodsOf)).toEqual([['server/discover']])
  })

  test('modern: a legacy server is an error without a handshake', async () => {
    const servers = world(legacyServer)
    await expect(connect(servers, { mode: 'modern' }).connecting).rejects.toMatchObject({ kind: 'protocol' })
    expect(servers.dialled.map(methodsOf)).toEqual([['server/discover']])
    expect(await open(servers)).toEqual([])
  })

  test('modern: silence is a timeout and an exit a closed connection, with one start', async () => {
    const silent = world(answers({ initialize: initialized() }))
    const { connecting, clock } = connect(silent, { mode: 'modern' })
    await clock.advance(30_000)
    await expect(connecting).rejects.toMatchObject({ kind: 'timeout' })
    expect(silent.dialled.map(methodsOf)).toEqual([['server/discover']])

    const exits = world((_, server) => server.exit())
    await expect(connect(exits, { mode: 'modern' }).connecting).rejects.toMatchObject({ kind: 'closed' })
    expect(exits.dialled).toHaveLength(1)
  })

  test('a policy without an era does not try it', async () => {
    const servers = world(legacyServer)
    const legacyOnly = createRevisionPolicy({ modern: [] })
    await using _connection = await connect(servers, { policy: legacyOnly }).connecting
    expect(servers.dialled.map(methodsOf)).toEqual([['initialize', 'notifications/initialized']])

    const modernOnly = createRevisionPolicy({ legacy: [] })
    const again = world(legacyServer)
    await expect(connect(again, { policy: modernOnly }).connecting).rejects.toMatchObject({ kind: 'protocol' })
    expect(again.dialled.map(methodsOf)).toEqual([['server/discover']])
  })
})

describe('what was known before', () => {
  test('a legacy verdict saves the probe and offers its revision', async () => {
    const policy = createRevisionPolicy({ legacy: ['2025-11-25', legacyRevision] })
    const servers = world(legacyServer)
    const prior = { era: 'legacy', revision: legacyRevision } as const
    await using connection = await connect(servers, { policy, prior }).connecting
    expect(connection.requested).toBe(legacyRevision)
    expect(servers.dialled.map(methodsOf)).toEqual([['initialize', 'notifications/initialized']])
  })

  test('a legacy verdict about a server that has become modern is found out anew', async () => {
    const refuse = failure(rpcCode.unsupportedVersion, { supported: [modernRevision], requested: legacyRevision })
    const servers = world(answers({ initialize: refuse, 'server/discover': result(discovered) }))
    const { connecting, reported } = connect(servers, { prior: { era: 'legacy', revision: legacyRevision } })
    await using connection = await connecting
    expect(connection.observed).toBe(modernRevision)
    expect(reported).toContain('verdict-outdated')
    expect((await open(servers)).length).toBe(1)
  })

  test('a verdict that the policy does not accept any more counts for nothing', async () => {
    const servers = world(legacyServer)
    await using _connection = await connect(servers, { prior: { era: 'legacy', revision: '2024-11-05' } }).connecting
    expect(methodsOf(servers.dialled[0] ?? { received: [] })[0]).toBe('server/discover')
  })

  const known = { era: 'modern', revision: modernRevision } as const

  test('a server that is known as modern is not downgraded because of silence or an exit', async () => {
    const silent = world(answers({ initialize: initialized() }))
    const { connecting, clock } = connect(silent, { prior: known })
    await clock.advance(30_000)
    await expect(connecting).rejects.toMatchObject({ kind: 'timeout' })
    expect(silent.dialled.map(methodsOf)).toEqual([['server/discover']])

    const exits = world((_, server) => server.exit())
    await expect(connect(exits, { prior: known }).connecting).rejects.toMatchObject({ kind: 'closed' })
    expect(exits.dialled).toHaveLength(1)
  })

  test('its own word makes it legacy, and that is reported', async () => {
    const servers = world(legacyServer)
    const { connecting, reported } = connect(servers, { prior: known })
    await using connection = await connecting
    expect(connection.observed).toBe(legacyRevision)
    expect(reported).toContain('verdict-changed')
  })
})

describe('the handshake', () => {
  test('LG-LIFE-08: a server that insists on a revision that is switched off is refused, and the error names the switch', async () => {
    const servers = world(
      answers({ 'server/discover': failure(rpcCode.methodNotFound), initialize: initialized('2024-11-05') }),
    )
    await expect(connect(servers).connecting).rejects.toMatchObject({
      kind: 'protocol',
      message: expect.stringMatching(/2024-11-05.*--legacy-revisions/) as unknown,
    })
    expect(await open(servers)).toEqual([])
  })

  test('requested and observed are kept apart', async () => {
    const policy = createRevisionPolicy({ legacy: ['2025-11-25', legacyRevision] })
    const servers = world(legacyServer)
    await using connection = await connect(servers, { policy }).connecting
    expect(connection).toMatchObject({ requested: '2025-11-25', observed: legacyRevision })
    expect(connection.verdict).toEqual({ era: 'legacy', revision: legacyRevision })
  })

  test('a refusal by a modern server is an error that says so, without a loop', async () => {
    const servers = world(
      answers({ 'server/discover': failure(rpcCode.methodNotFound), initialize: failure(rpcCode.unsupportedVersion) }),
    )
    await expect(connect(servers).connecting).rejects.toMatchObject({
      kind: 'protocol',
      message: expect.stringContaining('modern server after all') as unknown,
    })
    expect(servers.dialled.map(methodsOf)).toEqual([['server/discover', 'initialize']])
  })

  test('no answer in time is a timeout', async () => {
    const servers = world(answers({ 'server/discover': failure(rpcCode.methodNotFound) }))
    const { connecting } = connect(servers, { handshakeTimeoutMs: 20 })
    await expect(connecting).rejects.toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('initialize') as unknown,
    })
    expect(await open(servers)).toEqual([])
  })
})

describe('an abort', () => {
  const silent = answers({})

  test.each([
    ['before it starts', (): World => world(silent), 0],
    ['while it dials', (): World => ({ dial: () => new Promise(() => undefined), dialled: [] }), 1],
    ['while it probes', (): World => world(silent), 1],
    ['while it shakes hands', (): World => world(answers({ 'server/discover': failure(rpcCode.methodNotFound) })), 1],
  ])('%s rejects with its reason unchanged and leaves nothing open', async (_, make, turns) => {
    const controller = new AbortController()
    const reason = new Error('no more')
    if (turns === 0) controller.abort(reason)
    const servers = make()
    const { connecting, clock } = connect(servers, { signal: controller.signal })
    await settled()
    controller.abort(reason)
    await clock.advance(1_000)
    await expect(connecting).rejects.toBe(reason)
    expect(await open(servers)).toEqual([])
  })

  test('closes a connection that comes too late', async () => {
    const controller = new AbortController()
    const servers = world(modernServer)
    let arrive: () => void = () => undefined
    const dial: World['dial'] = (options) =>
      new Promise((resolve, reject) => {
        arrive = () => void servers.dial(options).then(resolve, reject)
      })
    const { connecting, clock } = connect({ dial, dialled: [] }, { signal: controller.signal })
    await settled()
    controller.abort()
    await clock.advance(1_000)
    await expect(connecting).rejects.toMatchObject({ name: 'AbortError' })
    arrive()
    expect(await open(servers)).toEqual([])
  })

  test('after the connection was made does nothing to it', async () => {
    const controller = new AbortController()
    const servers = world(modernServer)
    await using connection = await connect(servers, { signal: controller.signal }).connecting
    controller.abort()
    await expect(
      connection.call({ method: 'tools/call', params: { name: 'x' } }, createCallerContext()),
    ).resolves.toMatchObject({
      kind: 'result',
    })
  })
})

describe('the connection', () => {
  test.each([
    ['modern', modernServer],
    ['legacy', legacyServer],
  ])('a %s server can be called, with an id that no earlier request had', async (_, behaviour) => {
    const servers = world(behaviour)
    await using connection = await connect(servers).connecting
    const outcome = await connection.call({ method: 'tools/call', params: { name: 'x' } }, createCallerContext())
    expect(outcome).toMatchObject({ kind: 'result' })
    expect(toObject((outcome as { value: JsonObject }).value)).toMatchObject({ content: [] })
    const ids = servers.dialled[0]?.received.flatMap((message) => (message.kind === 'request' ? [message.id] : []))
    expect(new Set(ids).size).toBe(ids?.length)
  })

  test.each([
    ['modern', modernServer],
    ['legacy', legacyServer],
  ])('D14: calls to a %s server that leaves fail at once', async (_, behaviour) => {
    const servers = world((message, server) => {
      if (message.kind === 'request' && message.method === 'tools/call') server.exit()
      else behaviour(message, server)
    })
    const connection = await connect(servers).connecting
    const calling = connection.call({ method: 'tools/call', params: { name: 'x' } }, createCallerContext())
    await expect(calling).rejects.toSatisfy((error) => TransportError.is(error) && error.kind === 'unknown-outcome')
    expect(await connection.ended).toBeUndefined()
    const again = connection.call({ method: 'tools/call', params: { name: 'x' } }, createCallerContext())
    await expect(again).rejects.toMatchObject({ kind: 'closed' })
    await connection[Symbol.asyncDispose]()
  })

  test('disposing it ends the connection', async () => {
    const servers = world(modernServer)
    const connection = await connect(servers).connecting
    await connection[Symbol.asyncDispose]()
    expect(await open(servers)).toEqual([])
    expect(await connection.ended).toBeUndefined()
  })
})
