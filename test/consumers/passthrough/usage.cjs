const { createRevisionPolicy } = require('@atenea/mcpcompat')
const { createPassthrough } = require('@atenea/passthrough')

async function main() {
  const proxy = createPassthrough({
    policy: createRevisionPolicy(),
    info: { name: 'usage', version: '1' },
    backends: [{ name: 'one', connect: () => Promise.reject(new Error('nobody asks for it')) }],
  })
  const [backend] = proxy.status().backends
  if (backend.name !== 'one' || backend.state !== 'idle') throw new Error(JSON.stringify(backend))
  await proxy[Symbol.asyncDispose]()
  console.log('ok')
}

main()
