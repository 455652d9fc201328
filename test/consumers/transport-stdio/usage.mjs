import { spawnServer } from '@atenea/transport-stdio'

const child = await spawnServer({ command: process.execPath, args: ['-e', 'process.stdin.pipe(process.stdout)'] })
await child.send({ kind: 'notification', method: 'hello', params: { to: 'you' } })
for await (const [first] of child.inbound) {
  if (first.message.method !== 'hello') throw new Error(JSON.stringify(first))
  break
}
console.log('ok')
