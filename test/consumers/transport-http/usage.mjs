import { createRevisionPolicy } from '@atenea/mcpcompat'
import { connectHttp } from '@atenea/transport-http'
import { createNodeSend, listenHttp } from '@atenea/transport-http/node'
import { createOAuthAuthorizer, OAuthError } from '@atenea/transport-http/oauth'
import { createFileSignInStore, createLoopbackReceiver } from '@atenea/transport-http/oauth/node'

const dispatcher = {
  call: () => ({ kind: 'result', value: { content: [] } }),
  notify: () => undefined,
  view: () => ({
    info: { name: 'usage', version: '1' },
    capabilities: {},
    has: () => true,
    headerPlan: () => undefined,
  }),
  drain: async () => {},
}
const policy = createRevisionPolicy()
const listener = await listenHttp(dispatcher, { policy })
const send = createNodeSend()
const client = await connectHttp(listener.url, { policy, info: { name: 'usage', version: '1' }, send })
if (client.server.info.name !== 'usage') throw new Error(JSON.stringify(client.server))
await client[Symbol.asyncDispose]()
send[Symbol.dispose]()
await listener.close()

// a server that wants a sign-in, where nobody can be asked
const guarded = await listenHttp(dispatcher, { policy, authenticate: () => ({ status: 401 }) })
const store = createFileSignInStore(new URL('sign-ins', import.meta.url).pathname)
const authorization = createOAuthAuthorizer(guarded.url, { identity: { name: 'usage' }, store, advice: 'Do so.' })
const info = { name: 'usage', version: '1' }
const failure = await connectHttp(guarded.url, { policy, info, authorization }).catch((error) => error)
if (!OAuthError.is(failure) || failure.code !== 'sign-in-needed') throw failure
const receiver = await createLoopbackReceiver()
if (!receiver.uri.startsWith('http://127.0.0.1:')) throw new Error(receiver.uri)
await receiver[Symbol.asyncDispose]()
await guarded.close()
console.log('ok')
