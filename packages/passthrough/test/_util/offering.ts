import type { JsonObject } from '@atenea/mcpcompat'
import { metaKey } from '@atenea/mcpcompat/transport'
import { type CreateBackendOptions, createBackend, type FakeBackend } from './rig.ts'
import type { Message, Wire } from './wire.ts'

/** What a fake backend offers. Items are JSON text, so that what arrives can be compared byte for byte. */
export interface Offering {
  tools?: readonly string[]
  prompts?: readonly string[]
  resources?: readonly string[]
  templates?: readonly string[]
  /** Items of a page; all in one when it is left out. */
  pageSize?: number
  /** Members of each list beside its items, such as cache hints. */
  around?: string
  /** Answers a request in place of what would be done by itself: with a result, or by writing to the wire. */
  answer?: (request: Message & { readonly method: string }, wire: Wire) => JsonObject | undefined | 'as usual'
}

export interface OfferingBackend extends FakeBackend {
  readonly offering: Offering
  /** Requests that came, handshakes left out. */
  readonly requests: (Message & { readonly method: string })[]
  /** How often a method was called. */
  count(method: string): number
  /** Tells all open listens (modern) or the client (legacy) of a change. */
  tell(method: string, params?: JsonObject): void
}

const lists: Readonly<
  Record<string, readonly [member: 'tools' | 'prompts' | 'resources' | 'templates', wire: string]>
> = {
  'tools/list': ['tools', 'tools'],
  'prompts/list': ['prompts', 'prompts'],
  'resources/list': ['resources', 'resources'],
  'resources/templates/list': ['templates', 'resourceTemplates'],
}

export const tool = (name: string, more = ''): string =>
  `{"name":${JSON.stringify(name)}${more},"inputSchema":{"type":"object"}}`

/** A backend that answers lists from what it offers, and calls by telling who was called with what. */
export function offer(name: string, offering: Offering, options: Partial<CreateBackendOptions> = {}): OfferingBackend {
  const backend = createBackend({ kind: 'modern', name, ...options })
  const requests: OfferingBackend['requests'] = []
  const listens = new Map<Wire, Set<number | string>>()
  const listensOf = (wire: Wire): Set<number | string> => {
    const known = listens.get(wire) ?? new Set()
    listens.set(wire, known)
    return known
  }
  backend.onRequest = (request, wire) => {
    requests.push(request)
    const own = offering.answer?.(request, wire) ?? (offering.answer === undefined ? 'as usual' : undefined)
    if (own !== 'as usual') return own
    const list = lists[request.method]
    if (list !== undefined) {
      const items = offering[list[0]] ?? []
      const start = Number(request.params?.['cursor'] ?? 0)
      const end = start + (offering.pageSize ?? items.length)
      const next = end < items.length ? `,"nextCursor":"${end}"` : ''
      const around = offering.around ?? ''
      wire.write(
        `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":{"resultType":"complete","${list[1]}":[${items.slice(start, end).join(',')}]${next}${around}}}`,
      )
      return undefined
    }
    if (request.method === 'subscriptions/listen') {
      const id = request.id as number
      listensOf(wire).add(id)
      wire.write({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: request.params?.['notifications'] ?? {}, _meta: { [metaKey.subscriptionId]: id } },
      })
      return undefined
    }
    const { _meta: _envelope, ...params } = request.params ?? {}
    return { resultType: 'complete', content: [], structuredContent: { backend: name, method: request.method, params } }
  }
  return Object.defineProperties(Object.create(backend) as OfferingBackend, {
    offering: { value: offering },
    requests: { value: requests },
    count: { value: (method: string) => requests.filter((request) => request.method === method).length },
    tell: {
      value: (method: string, params: JsonObject = {}) => {
        if (options.kind === 'legacy') {
          backend.wire.write({ jsonrpc: '2.0', method, params })
          return
        }
        for (const [wire, ids] of listens) {
          for (const id of ids) {
            const tagged = { ...params, _meta: { [metaKey.subscriptionId]: id } }
            if (!wire.closed) wire.write({ jsonrpc: '2.0', method, params: tagged })
          }
        }
      },
    },
    options: { value: backend.options },
    wire: { get: () => backend.wire },
  })
}

/** Names of the items of a list result. */
export function namesIn(result: JsonObject | undefined, member: string, key = 'name'): readonly unknown[] {
  return ((result?.[member] ?? []) as readonly JsonObject[]).map((item) => item[key])
}
