import { PassThrough } from 'node:stream'
import type { ServerProcess } from '../src/server-process.ts'

/** A server in this process, with both ends of its pipes at hand. */
export interface FakeServer extends ServerProcess {
  readonly stdin: PassThrough
  readonly stdout: PassThrough
}

/** A server in this process: `answer` gets each request line and returns what is written for it. */
export function fakeServer(answer: (line: string) => string): FakeServer {
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  let rest = ''
  stdin.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) stdout.write(answer(line))
  })
  return { pid: process.pid, stdin, stdout, onStderr: () => {}, lastWords: () => '', end: async () => {} }
}

/** The text and the id of an `echo` request. */
export function readEcho(line: string): { readonly id: number; readonly text: string } {
  const { id, params } = JSON.parse(line) as { id: number; params: { arguments: { text: string } } }
  return { id, text: params.arguments.text }
}

/** A right answer of a legacy server. */
export function echoAnswer(id: number, text: string): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })}\n`
}
