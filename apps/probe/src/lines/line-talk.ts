import type { Era } from '@atenea/mcpcompat'
import { legacyMethod, usualMeta } from '../eras.ts'
import { messageText, type Talk } from '../talk.ts'
import type { LineWire } from '../wire/line-wire.ts'

export interface CreateLineTalkOptions {
  readonly wire: LineWire
  readonly era: Era
  readonly revision: string
  readonly timeoutMs: number
}

/** A talk over lines: the child of a command, or a unix socket. */
export function createLineTalk({ wire, era, revision, timeoutMs }: CreateLineTalkOptions): Talk {
  let nextId = 0
  // A legacy server may ask; a modern one must not, and gets no answer (MC-MSG-10).
  wire.onRequest =
    era === 'modern'
      ? undefined
      : ({ idText, value }) =>
          value['method'] === legacyMethod.ping
            ? `{"jsonrpc":"2.0","id":${idText},"result":{}}`
            : `{"jsonrpc":"2.0","id":${idText},"error":{"code":-32601,"message":"Method not found"}}`
  return {
    era,
    carrier: 'lines',
    revision,
    async send(method, params, ask) {
      const meta = ask.meta === undefined ? usualMeta(era, revision) : (ask.meta ?? undefined)
      const idText = ask.idText === undefined ? String(++nextId) : ask.idText
      return await wire.ask({
        text: ask.text ?? messageText({ method, params, meta, idText }),
        idText: idText ?? undefined,
        timeoutMs: ask.timeoutMs ?? timeoutMs,
        stopAt: ask.stopAt,
      })
    },
    listen: async (ms) => await wire.listen(ms),
  }
}
