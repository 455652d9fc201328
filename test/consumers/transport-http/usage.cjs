const { createRevisionPolicy } = require('@atenea/mcpcompat')
const { listenHttp } = require('@atenea/transport-http/node')

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

async function main() {
  const listener = await listenHttp(dispatcher, { policy: createRevisionPolicy() })
  const answer = await fetch(new URL('/healthz', listener.url))
  if (answer.status !== 200) throw new Error(String(answer.status))
  await answer.text()
  await listener.close()
  console.log('ok')
}

main()
