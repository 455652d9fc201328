import { TransportError, type RpcId, type WireHints } from '@atenea/mcpcompat'
import { isSseType, parseMessage } from '@atenea/mcpcompat/transport'
import type { Endpoint } from './endpoint.ts'
import { readSome } from './read-body.ts'
import type { HttpAnswer } from './send.ts'
import { createSseDecoder } from './sse/decode.ts'

/** The answer to a probe, as verdicts look at it. */
export interface ProbeAnswer {
  readonly status: number
  readonly headers: WireHints
  /** The body as text; of a stream the data of the event that holds the response. */
  readonly body: string
}

/** Reads the answer to a probe. A body that is too long, and a stream that ends before its response, leave an empty or cut-off text. */
export async function readProbe(head: HttpAnswer, id: RpcId, endpoint: Endpoint): Promise<ProbeAnswer> {
  const { status, headers } = head
  const isStream = status >= 200 && status < 300 && isSseType(headers['content-type'])
  const body = isStream ? await responseIn(head, id, endpoint) : await readSome(head.body, endpoint.maxMessageBytes)
  return { status, headers, body }
}

async function responseIn({ body }: HttpAnswer, id: RpcId, endpoint: Endpoint): Promise<string> {
  const decoder = createSseDecoder({ maxEventBytes: endpoint.maxMessageBytes })
  for await (const chunk of body) {
    for (const { type, data } of decoder.push(chunk)) {
      if (type !== 'message' || data === '') continue
      const message = parseMessage(data, 'text')
      // The id is not compared: the exchange correlates, and an error may lack it.
      if (message.kind === 'result' || message.kind === 'error' || message.kind === 'reject') return data
    }
  }
  throw new TransportError(
    'protocol',
    `${endpoint.name} ended the stream before it answered the probe ${String(id)} (H24)`,
    {
      retryable: true,
    },
  )
}
