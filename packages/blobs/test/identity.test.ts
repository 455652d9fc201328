import { AtprotoHandleResolver } from '@atproto-labs/handle-resolver'
import { createIdentityResolver as officialResolver } from '@atproto-labs/identity-resolver'
import { describe, expect, test, vi } from 'vitest'
import { createTxtResolver } from '../src/handle-dns.ts'
import { eventually } from './_util/eventually.ts'
import { alice, bob, documentOf, network, type NetworkOptions } from './_util/network.ts'

// The machine may be slow; these bounds only catch a hang.
vi.setConfig({ testTimeout: 30_000 })

const handle = 'alice.example.com'
const pds = 'https://pds.example.org'
const aliceDocument = documentOf(alice, handle, pds)
const wellKnown = `https://${handle}/.well-known/atproto-did`
const txtName = `_atproto.${handle}`
const plc = { [alice]: aliceDocument }

describe('by handle', () => {
  test('DNS names the DID, whose document names the handle', async () => {
    const { identity, visited } = await network({ plc, txt: { [txtName]: [`did=${alice}`] } })
    expect(await identity.resolve('Alice.Example.com')).toEqual({
      did: alice,
      handle,
      handleFault: undefined,
      pds,
      pdsFault: undefined,
      document: aliceDocument,
    })
    expect(visited.filter((url) => url !== wellKnown)).toEqual([])
  })

  test('HTTPS does as well, with white space around the DID', async () => {
    const { identity } = await network({ plc, web: { [wellKnown]: `\n ${alice}\r\n` } })
    expect(await identity.resolve(handle)).toMatchObject({ did: alice, handle, pds })
  })

  test('DNS goes first where the two contradict each other', async () => {
    const { identity } = await network({
      plc: { ...plc, [bob]: documentOf(bob, handle, pds) },
      txt: { [txtName]: [`did=${alice}`] },
      web: { [wellKnown]: bob },
    })
    expect((await identity.resolve(handle)).did).toBe(alice)
  })

  test('records that are none are ignored, and one that is there twice counts once', async () => {
    const txt = {
      [txtName]: [
        'v=spf1 -all',
        'did=',
        'did=did:web:not a did',
        `did=${alice}`,
        [`did=${alice.slice(0, 20)}`, alice.slice(20)],
      ],
    }
    const { identity } = await network({ plc, txt })
    expect((await identity.resolve(handle)).did).toBe(alice)
  })

  test('two different DIDs in DNS are refused, whatever HTTPS says', async () => {
    const txt = { [txtName]: [`did=${alice}`, `did=${bob}`] }
    const { identity } = await network({ plc, txt, web: { [wellKnown]: alice } })
    await expect(identity.resolve(handle)).rejects.toMatchObject({ kind: 'unconfirmed-handle' })
  })

  test('a DID whose document names another handle, or none, is refused', async () => {
    for (const document of [documentOf(alice, 'other.example.com', pds), { id: alice }]) {
      const { identity } = await network({ plc: { [alice]: document }, txt: { [txtName]: [`did=${alice}`] } })
      await expect(identity.resolve(handle)).rejects.toMatchObject({ kind: 'unconfirmed-handle' })
    }
  })

  test('only the first handle of a document counts, and what is none is passed over', async () => {
    const names = (...uris: unknown[]): object => ({ ...aliceDocument, alsoKnownAs: uris })
    const txt = { [txtName]: [`did=${alice}`] }
    const passed = await network({
      plc: { [alice]: names(7, 'https://x', 'at://', 'at://no handle', `at://${handle}/path`, `at://${handle}`) },
      txt,
    })
    expect((await passed.identity.resolve(handle)).handle).toBe(handle)
    // It has the form of one, so it is the one that is claimed, although it can never be resolved.
    const second = await network({ plc: { [alice]: names('at://alice.invalid', `at://${handle}`) }, txt })
    await expect(second.identity.resolve(handle)).rejects.toMatchObject({ kind: 'unconfirmed-handle' })
  })

  test('one that nobody knows does not exist; one that could not be found out may', async () => {
    const nobody = await network()
    await expect(nobody.identity.resolve(handle)).rejects.toMatchObject({ kind: 'unknown-identity' })
    const page = await network({ web: { [wellKnown]: '<html>Not found</html>' } })
    await expect(page.identity.resolve(handle)).rejects.toMatchObject({ kind: 'unknown-identity' })
    const dnsFails = await network({ txt: { [txtName]: 'failure' } })
    await expect(dnsFails.identity.resolve(handle)).rejects.toMatchObject({ kind: 'unreachable', retryable: true })
    const webFails = await network({ web: { [wellKnown]: 503 } })
    await expect(webFails.identity.resolve(handle)).rejects.toMatchObject({ kind: 'upstream', retryable: true })
  })

  test('HTTPS answers also when DNS fails or is silent', async () => {
    for (const answer of ['failure', 'silence'] as const) {
      const { identity } = await network({ plc, txt: { [txtName]: answer }, web: { [wellKnown]: alice } })
      expect((await identity.resolve(handle)).did).toBe(alice)
    }
  })

  test('a host that is slow holds nothing up when DNS knows', async () => {
    const { identity, web } = await network({
      plc,
      txt: { [txtName]: [`did=${alice}`] },
      web: { [wellKnown]: () => undefined },
    })
    expect((await identity.resolve(handle)).did).toBe(alice)
    await eventually(() => expect(web.sockets.size).toBe(0))
  })

  test('redirects are followed over HTTPS, through the guard', async () => {
    const elsewhere = 'https://handles.example.org/alice'
    const followed = await network({
      plc,
      web: {
        [wellKnown]: (_, response) => void response.writeHead(301, { location: elsewhere }).end(),
        [elsewhere]: alice,
      },
    })
    expect((await followed.identity.resolve(handle)).did).toBe(alice)
    const inside = await network({
      web: {
        [wellKnown]: (_, response) => void response.writeHead(301, { location: 'http://169.254.169.254/' }).end(),
      },
    })
    await expect(inside.identity.resolve(handle)).rejects.toMatchObject({ kind: 'endpoint-refused' })
  })

  test('G5: the host of a handle passes the guard', async () => {
    const { identity, web } = await network()
    for (const inside of ['alice.test']) {
      await expect(identity.resolve(inside)).rejects.toMatchObject({ kind: 'endpoint-refused' })
    }
    expect(web.sockets.size).toBe(0)
  })

  test('one too long for DNS is asked for over HTTPS alone', async () => {
    const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(55)}.example.com`
    expect([long.length <= 253, `_atproto.${long}`.length > 253]).toEqual([true, true])
    const { identity, asked } = await network()
    await expect(identity.resolve(long)).rejects.toMatchObject({ kind: 'unknown-identity' })
    expect(asked).toEqual([])
  })

  test('more than a DID is not read', async () => {
    const { identity } = await network({ web: { [wellKnown]: alice.padEnd(100_000) } })
    await expect(identity.resolve(handle)).rejects.toMatchObject({ kind: 'too-large' })
  })
})

describe('by DID', () => {
  test('the handle is told when it names the DID in return', async () => {
    const { identity } = await network({ plc, txt: { [txtName]: [`did=${alice}`] } })
    expect(await identity.resolve(alice)).toMatchObject({ did: alice, handle, handleFault: undefined })
  })

  test('a handle that does not is not told, with the reason; the rest is', async () => {
    const options: [NetworkOptions, string][] = [
      [{ txt: { [txtName]: [`did=${bob}`] } }, 'unconfirmed-handle'],
      [{}, 'unknown-identity'],
      [{ txt: { [txtName]: 'failure' } }, 'unreachable'],
    ]
    for (const [option, kind] of options) {
      const { identity } = await network({ plc, ...option })
      expect(await identity.resolve(alice)).toMatchObject({ did: alice, handle: undefined, pds, handleFault: { kind } })
    }
    const reserved = await network({ plc: { [alice]: documentOf(alice, 'alice.local', pds) } })
    expect(await reserved.identity.resolve(alice)).toMatchObject({
      handle: undefined,
      handleFault: { kind: 'invalid-identifier' },
    })
  })

  test('did:web is asked at its host', async () => {
    const did = 'did:web:bob.example.com'
    const document = documentOf(did, 'bob.example.com', pds)
    const {
      identity,
      visited,
      plc: directory,
    } = await network({
      web: {
        'https://bob.example.com/.well-known/did.json': document,
        'https://bob.example.com/.well-known/atproto-did': did,
      },
    })
    expect(await identity.resolve(did)).toMatchObject({ did, handle: 'bob.example.com', pds, document })
    expect(await identity.pdsOf(did)).toBe(pds)
    expect(visited[0]).toBe('https://bob.example.com/.well-known/did.json')
    expect(directory.requests).toEqual([])
  })

  test('G5: did:web of localhost is refused unless the operator vouches for it', async () => {
    const closed = await network()
    await expect(closed.identity.pdsOf('did:web:localhost%3A1')).rejects.toMatchObject({ kind: 'endpoint-refused' })
    const did = `did:web:localhost%3A${closed.plc.port}`
    await expect(closed.identity.pdsOf(did)).rejects.toMatchObject({ kind: 'unknown-identity' })
  })

  test.each([
    ['is not there', 404, 'unknown-identity'],
    ['was given up', 410, 'unknown-identity'],
    ['is not JSON', 'no JSON', 'bad-document'],
    ['is an array', [], 'bad-document'],
    ['is that of somebody else', documentOf(bob, handle, pds), 'bad-document'],
    ['has no id', { service: [] }, 'bad-document'],
    ['names no PDS', { id: alice }, 'bad-document'],
    ['names a service of another type', withService({ type: 'Other' }), 'bad-document'],
    ['names a service of another id', withService({ id: '#other' }), 'bad-document'],
    ['names a service of somebody else', withService({ id: `${bob}#atproto_pds` }), 'bad-document'],
    ['has an endpoint that is no text', withService({ serviceEndpoint: { uri: pds } }), 'bad-document'],
    ['has services that are none', { id: alice, service: [null, 'x', 7] }, 'bad-document'],
    ['leads to an error of the directory', 500, 'upstream'],
    ['leads elsewhere', redirect('https://pds.example.org/'), 'bad-redirect'],
    ['is too large', 'x'.repeat(300_000), 'too-large'],
  ])('a document that %s is an error', async (_what, answer, kind) => {
    const { identity } = await network({ plc: { [alice]: answer } })
    await expect(identity.pdsOf(alice)).rejects.toMatchObject({ kind })
  })

  function withService(change: object): object {
    const [service] = (aliceDocument as { service: object[] }).service
    return { ...aliceDocument, service: [{ ...service, ...change }] }
  }

  function redirect(location: string) {
    return (_: unknown, response: { writeHead: (status: number, headers: object) => { end: () => void } }): void =>
      response.writeHead(302, { location }).end()
  }

  test('a document without a PDS, or with one that is refused, tells who somebody is all the same', async () => {
    for (const [document, kind] of [
      [documentOf(alice, handle, 'http://169.254.169.254'), 'endpoint-refused'],
      [{ id: alice }, 'bad-document'],
    ] as const) {
      const { identity } = await network({ plc: { [alice]: document } })
      expect(await identity.resolve(alice)).toMatchObject({ did: alice, pds: undefined, pdsFault: { kind }, document })
    }
  })

  test('the full form of the id of a service does as well, and the first that fits counts', async () => {
    const [service] = (aliceDocument as { service: object[] }).service
    const services = [
      { ...service, type: 'Other' },
      { ...service, id: `${alice}#atproto_pds`, serviceEndpoint: 'https://one.example.org' },
      service,
    ]
    const { identity } = await network({ plc: { [alice]: { ...aliceDocument, service: services } } })
    expect(await identity.pdsOf(alice)).toBe('https://one.example.org')
  })

  test('members of the document that nobody here knows are kept', async () => {
    const document = { ...aliceDocument, extra: { a: [1, null] } }
    const { identity } = await network({ plc: { [alice]: document } })
    expect((await identity.resolve(alice)).document).toEqual(document)
  })
})

describe('asking', () => {
  test('once is enough for those who ask at the same time, and for a while', async () => {
    const {
      identity,
      plc: directory,
      asked,
    } = await network({ plc, txt: { [txtName]: [`did=${alice}`] }, ttlMs: 60_000 })
    await Promise.all([identity.resolve(alice), identity.resolve(handle), identity.pdsOf(alice)])
    await identity.resolve(handle)
    expect([directory.requests.length, asked.length]).toEqual([1, 1])
  })

  test('again is needed when nothing was found out', async () => {
    const { identity, plc: directory } = await network({ ttlMs: 60_000 })
    await expect(identity.pdsOf(alice)).rejects.toMatchObject({ kind: 'unknown-identity' })
    await expect(identity.pdsOf(alice)).rejects.toMatchObject({ kind: 'unknown-identity' })
    expect(directory.requests).toHaveLength(2)
  })

  test('can be aborted by one without spoiling it for others', async () => {
    const late = (_: unknown, response: { end: (text: string) => void }): void =>
      void setTimeout(() => response.end(JSON.stringify(aliceDocument)), 50)
    const { identity, plc: directory } = await network({ plc: { [alice]: late } })
    const stop = new AbortController()
    const first = identity.pdsOf(alice, { signal: stop.signal })
    const second = identity.pdsOf(alice)
    stop.abort('enough')
    await expect(first).rejects.toBe('enough')
    expect(await second).toBe(pds)
    expect(directory.requests).toHaveLength(1)
  })

  test('stops when nobody waits any more', async () => {
    const silent = (): void => undefined
    const {
      identity,
      plc: directory,
      web,
    } = await network({
      plc: { [alice]: silent },
      txt: { [txtName]: 'silence' },
      web: { [wellKnown]: silent },
    })
    for (const who of [alice, handle]) {
      await expect(identity.resolve(who, { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
        name: 'TimeoutError',
      })
    }
    await eventually(() => expect([directory.sockets.size, web.sockets.size]).toEqual([0, 0]))
  })

  test('ends by itself when the directory does not answer', async () => {
    const { identity } = await network({ plc: { [alice]: () => undefined }, timeoutMs: 100 })
    await expect(identity.pdsOf(alice)).rejects.toMatchObject({ kind: 'timeout' })
  })

  test.each(['alice', 'did:key:zQ3shZc2QzApp2oymGvQbzP8eKheVshBHbU4ZYjeXqwSKEn6N', 'https://alice.example.com', ''])(
    'for %j asks nobody',
    async (identifier) => {
      const { identity, plc: directory, web, asked } = await network()
      await expect(identity.resolve(identifier)).rejects.toMatchObject({ kind: 'invalid-identifier' })
      expect([directory.requests, web.requests, asked]).toEqual([[], [], []])
    },
  )
})

describe('the official resolver comes to the same', () => {
  /** Who the official resolver finds, on the same servers. */
  async function official(
    identifier: string,
    { plc: directory, nameserver, http }: Awaited<ReturnType<typeof network>>,
  ): Promise<string> {
    const ask = createTxtResolver({ nameservers: [nameserver], timeoutMs: 500 })
    const fetch = async (input: string | URL | Request): Promise<Response> => {
      const url = new URL(input instanceof Request ? input.url : input)
      const limits = { maxBytes: 1_000_000, maxRedirects: 3, timeoutMs: 20_000, idleMs: 20_000 }
      const response = await http.request({ method: 'GET', url, ...limits })
      const chunks: Uint8Array[] = []
      for await (const chunk of response.body) chunks.push(chunk)
      const headers = { 'content-type': response.header('content-type') ?? '' }
      return new Response(Buffer.concat(chunks), { status: response.status, headers })
    }
    const resolveTxt = async (name: string): Promise<string[]> => [...(await ask(name))]
    const handleResolver = new AtprotoHandleResolver({ fetch, resolveTxt })
    const resolver = officialResolver({ fetch, plcDirectoryUrl: directory.origin, handleResolver })
    const found = await resolver.resolve(identifier)
    return `${found.did} ${found.handle}`
  }

  const cases: [string, string, NetworkOptions][] = [
    ['a handle in DNS', handle, { plc, txt: { [txtName]: [`did=${alice}`] } }],
    ['a handle over HTTPS', handle, { plc, web: { [wellKnown]: alice } }],
    ['a handle in capitals', handle.toUpperCase(), { plc, txt: { [txtName]: [`did=${alice}`] } }],
    ['a handle that nobody knows', handle, { plc }],
    [
      'a handle claimed one way only',
      handle,
      { plc: { [alice]: documentOf(alice, 'x.example.com', pds) }, txt: { [txtName]: [`did=${alice}`] } },
    ],
    ['a record that holds no DID', handle, { plc, txt: { [txtName]: ['did=did:web:not a did'] } }],
    ['a DID with a handle', alice, { plc, txt: { [txtName]: [`did=${alice}`] } }],
    ['a DID with a handle of somebody else', alice, { plc, txt: { [txtName]: [`did=${bob}`] } }],
    ['a DID whose document is that of another', alice, { plc: { [alice]: documentOf(bob, handle, pds) } }],
    ['a DID that does not exist', alice, {}],
    ['two different DIDs in DNS', handle, { plc, txt: { [txtName]: [`did=${alice}`, `did=${bob}`] } }],
  ]

  test.each(cases)('for %s', async (_what, identifier, options) => {
    const net = await network(options)
    const ours = net.identity.resolve(identifier).then(
      (found) => `${found.did} ${found.handle ?? 'handle.invalid'}`,
      () => 'refused',
    )
    const theirs = official(identifier, net).catch(() => 'refused')
    expect(await ours).toBe(await theirs)
  })
})
