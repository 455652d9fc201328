/** Orders tea from the server of this folder, once in each era, and answers what it is asked. */
import { createRevisionPolicy, type JsonObject, type Outcome, type Peer, toObject } from '@atenea/mcpcompat'
import { connectDuplex, createCallerContext } from '@atenea/mcpcompat/transport'
import { spawnServer } from '@atenea/transport-stdio'

const policy = createRevisionPolicy()
const peer: Peer = { name: 'guest', version: '1.0.0', capabilities: { elicitation: {} } }
const order = { method: 'tools/call', params: { name: 'order_tea', arguments: {} } }
const server = { command: process.execPath, args: [new URL('server.ts', import.meta.url).pathname] }

/** What a person would type into a form. */
const filledIn: JsonObject = { action: 'accept', content: { tea: 'green' } }

for (const mode of ['legacy', 'modern'] as const) {
  await using client = await connectDuplex(({ signal }) => spawnServer({ ...server, signal }), {
    policy,
    mode,
    info: { name: 'guest', version: '1.0.0' },
    capabilities: peer.capabilities,
  })
  let outcome: Outcome = await client.call(order, createCallerContext({ peer }))
  while (outcome.kind === 'ask') {
    const questions = [...(outcome.inputRequests ?? [])]
    for (const [, { params }] of questions) console.log(client.observed, 'is asked:', toObject(params).message)
    const inputResponses = Object.fromEntries(questions.map(([key]) => [key, filledIn]))
    const { requestState } = outcome
    const resume = { inputResponses, ...(requestState === undefined ? {} : { requestState }) }
    outcome = await client.call(order, createCallerContext({ peer, resume }))
  }
  if (outcome.kind === 'result') console.log(client.observed, 'gets:', toObject(outcome.value).content)
}
