import type { JsonObject } from '@atenea/mcpcompat'
import { createBackend, createRig, type FakeBackend, type FrontClient, type Rig } from './rig.ts'
import { type Line, type Message, turn, type Wire } from './wire.ts'

export const form = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }
export const sample = { messages: [{ role: 'user', content: { type: 'text', text: 'a' } }], maxTokens: 9 }
export const everyAsk = { elicitation: { form: {} }, sampling: {}, roots: {} }
export const accepted = { action: 'accept', content: { name: 'x' } }

/** A call that has reached the backend, and the connection that it came by. */
export interface Arrived {
  readonly request: Message
  readonly wire: Wire
}

/** Calls of a backend as they come, whichever connection they come by. */
export interface Arrivals {
  /** The next one; waits for it. */
  next(): Promise<Arrived>
  readonly waiting: number
}

/** `own`: gives the result of requests that are answered by themselves. */
export function arrivals(backend: FakeBackend, own?: (request: Message) => JsonObject | undefined): Arrivals {
  const come: Arrived[] = []
  const takers: ((arrived: Arrived) => void)[] = []
  backend.onRequest = (request, wire) => {
    const result = own?.(request)
    if (result !== undefined) return result
    const taker = takers.shift()
    if (taker === undefined) come.push({ request, wire })
    else taker({ request, wire })
    return undefined
  }
  return {
    next: async () => come.shift() ?? (await new Promise((resolve) => takers.push(resolve))),
    get waiting() {
      return come.length
    },
  }
}

export type BridgedOptions = Parameters<typeof createRig>[1] & {
  readonly backend?: Partial<Parameters<typeof createBackend>[0]>
}

export interface Bridged {
  readonly rig: Rig
  readonly backend: FakeBackend
  readonly calls: Arrivals
  readonly client: FrontClient
}

/** A modern client that can be asked everything, of a legacy backend whose questions cross. */
export async function createBridged({ backend: about, ...options }: BridgedOptions = {}): Promise<Bridged> {
  const backend = createBackend({ kind: 'legacy', ...about })
  const calls = arrivals(backend)
  const rig = createRig([backend], { bridgeInput: true, ...options })
  const client = await rig.client('modern', { capabilities: everyAsk })
  return { rig, backend, calls, client }
}

export function ask(wire: Wire, id: string, method = 'elicitation/create', params: JsonObject = form): void {
  wire.write({ jsonrpc: '2.0', id, method, params })
}

/** What the backend is told in answer to its question. */
export async function answerTo(wire: Wire, id: string): Promise<Line> {
  return await wire.next((message) => message.id === id && message.method === undefined)
}

/** The questions that a client was given, and under which state it may come back. */
export interface Given {
  readonly keys: readonly string[]
  readonly requests: JsonObject
  readonly state: string
}

export function given(line: Line): Given {
  const { result } = line.value
  if (result?.['resultType'] !== 'input_required') throw new Error(`no question but ${line.text}`)
  const requests = result['inputRequests'] as JsonObject
  return { keys: Object.keys(requests), requests, state: result['requestState'] as string }
}

export const call = { name: 't', arguments: { a: 1 } }

/** Brings one answer for each key that was asked. */
export function retry(client: FrontClient, { keys, state }: Given, answer: JsonObject = accepted, of = call): number {
  const inputResponses = Object.fromEntries(keys.map((key) => [key, answer]))
  return client.send('tools/call', { ...of, inputResponses, requestState: state })
}

/** Waits until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + 3_000
  while (!holds()) {
    if (performance.now() > giveUpAt) throw new Error('it did not come true within 3 s')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await turn()
}
