import type { ClientPeer, PeerPort } from '../../src/contract/peer-port.ts'
import type { Diagnostic } from '../../src/contract/diagnostics.ts'
import { TransportError } from '../../src/jsonrpc/errors.ts'
import { encodeMessage } from '../../src/jsonrpc/encode.ts'
import type { JsonObject } from '../../src/jsonrpc/json.ts'
import { parseMessage } from '../../src/jsonrpc/parse.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { turn } from './raw-peer.ts'

/** What a client writes to and hears from, in raw messages and at a time that the test says. */
export interface FakeServer {
  readonly port: PeerPort
  readonly clock: ManualClock
  readonly diagnostics: Diagnostic[]
  readonly onDiagnostic: (diagnostic: Diagnostic) => void
  /** Everything that the client sent and nobody looked at, after all that is due in this turn has run. */
  sent(): Promise<readonly JsonObject[]>
  /** The one message that the client sent. */
  one(): Promise<JsonObject>
  /** Sends to the client. */
  say(client: ClientPeer, ...messages: readonly (JsonObject | string)[]): void
  /** From now on nothing can be sent any more. */
  vanish(): void
}

export function createFakeServer(): FakeServer {
  const unread: JsonObject[] = []
  const clock = createManualClock()
  const diagnostics: Diagnostic[] = []
  let gone = false
  return {
    clock,
    diagnostics,
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    port: {
      clock,
      send(message) {
        if (gone) return Promise.reject(new TransportError('closed', 'gone'))
        unread.push(JSON.parse(encodeMessage(message)) as JsonObject)
      },
    },
    async sent() {
      await turn()
      return unread.splice(0)
    },
    async one() {
      const [message, ...more] = await this.sent()
      if (message === undefined || more.length > 0)
        throw new Error(`${more.length + (message ? 1 : 0)} messages were sent`)
      return message
    },
    say(client, ...messages) {
      for (const message of messages) {
        client.receive(parseMessage(typeof message === 'string' ? message : JSON.stringify(message), 'parsed'))
      }
    },
    vanish() {
      gone = true
    },
  }
}

export function resultOf(id: unknown, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: id as number, result }
}

export function errorOf(id: unknown, code: number, message = 'm', data?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: id as number, error: { code, message, ...(data !== undefined && { data }) } }
}
