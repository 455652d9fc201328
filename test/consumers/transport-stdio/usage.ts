import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connection, RpcMessage } from '@atenea/mcpcompat/transport'
import {
  createLineFramer,
  dialSocket,
  type LineFault,
  listenSocket,
  type ServerExit,
  spawnServer,
} from '@atenea/transport-stdio'

async function serve(connection: Connection): Promise<void> {
  for await (const batch of connection.inbound) {
    for (const { message, principal } of batch) {
      if (message.kind !== 'request') continue
      await connection.send({ kind: 'result', id: message.id, result: { method: message.method, who: principal.id } })
    }
  }
}

async function firstOf(connection: Connection): Promise<string> {
  for await (const [first] of connection.inbound) return JSON.stringify(first?.message)
  throw new Error('the connection ended without a message')
}

function expectEqual(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`)
  }
}

const request: RpcMessage = { kind: 'request', id: 'a', method: 'ping', params: undefined }

// a unix socket
const folder = mkdtempSync(join(tmpdir(), 'usage-'))
const listener = await listenSocket(join(folder, 's.sock'), serve)
const client = await dialSocket(listener.path, { signal: AbortSignal.timeout(5_000) })
await client.send(request)
const who = `uid:${process.getuid?.()}`
expectEqual(await firstOf(client), JSON.stringify({ kind: 'result', id: 'a', result: { method: 'ping', who } }))
await listener.close()
rmSync(folder, { recursive: true })

// a child process: one that gives back what it gets
const child = await spawnServer({ command: process.execPath, args: ['-e', 'process.stdin.pipe(process.stdout)'] })
await child.send(request)
expectEqual(await firstOf(child), JSON.stringify(request))
const exit: ServerExit = await child.exited
expectEqual(exit, { code: 0, signal: null })

// the framing alone
const lines: string[] = []
const faults: LineFault[] = []
const framer = createLineFramer(
  { line: (text) => void lines.push(text), fault: (fault) => void faults.push(fault) },
  { maxLineBytes: 16 },
)
framer.push(Buffer.from('{"a":1}\r\n\n{"too long for sixteen":1}\n{"b'))
expectEqual([lines, faults, framer.end()], [['{"a":1}'], ['too-long'], 3])

console.log('ok')
