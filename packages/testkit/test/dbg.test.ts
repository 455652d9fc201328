import { test } from 'vitest'
import { backendOn, clientOn, Opened, passthroughTo } from './_util/proxied.ts'
test('x', async () => {
  const opened = new Opened()
  const backend = await backendOn('memory', 'modern', opened)
  const passthrough = passthroughTo([backend], opened, { onEvent: (e) => console.log(e), onDiagnostic: (d) => console.log(d) })
  const t = setTimeout(() => console.log(passthrough.status().backends), 2000)
  const client = await clientOn('memory', passthrough, opened, { mode: 'modern', info: { name: 'a', version: '1' } })
  console.log(client.server)
  clearTimeout(t)
  await client[Symbol.asyncDispose]()
  console.log('disposed')
  await opened[Symbol.asyncDispose]()
}, 5000)
