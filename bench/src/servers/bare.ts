import {
  discoverResult,
  initializeResult,
  listResult,
  textResult,
  unknownMethod,
  unknownOpening,
} from './bare-results.ts'
import { reportAbort } from './sleep.ts'

/*
 * The limit that everything else is compared with: parses the JSON, switches on the method and concatenates an answer.
 * It validates nothing, believes whoever writes, and gives wrong answers to wrong questions.
 */

interface Message {
  readonly id: number
  readonly method: string
  readonly params: {
    readonly name: string
    readonly arguments: { readonly text: string; readonly ms: number }
    readonly requestId: number
    readonly protocolVersion: string
    readonly _meta: Readonly<Record<string, string>>
  }
}

const newline = 0x0a
const timers = new Map<number, NodeJS.Timeout>()
let counter = 0
let parts: Buffer[] = []

process.stdin.on('data', (chunk: Buffer) => {
  const end = chunk.lastIndexOf(newline) + 1
  if (end === 0) {
    parts.push(chunk)
    return
  }
  let text = chunk.toString('utf8', 0, end)
  if (parts.length > 0) {
    parts.push(chunk.subarray(0, end))
    text = Buffer.concat(parts).toString('utf8')
    parts = []
  }
  if (end < chunk.length) parts.push(chunk.subarray(end))
  answerLines(text)
})

function answerLines(text: string): void {
  let answers = ''
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    answers += answer(JSON.parse(text.slice(start, end)) as Message)
    start = end + 1
  }
  if (answers !== '') process.stdout.write(answers)
}

function answer({ id, method, params }: Message): string {
  switch (method) {
    case 'tools/call':
      return callTool(id, params.name, params.arguments)
    case 'tools/list':
      return line(id, listResult)
    case unknownOpening:
      return `${unknownMethod(id)}\n`
    case 'server/discover':
      return line(id, discoverResult(params._meta['io.modelcontextprotocol/protocolVersion'] as string))
    case 'initialize':
      return line(id, initializeResult(params.protocolVersion))
    case 'notifications/cancelled':
      cancel(params.requestId)
      return ''
    default:
      return ''
  }
}

function callTool(id: number, name: string, args: Message['params']['arguments']): string {
  switch (name) {
    case 'sleep':
      timers.set(
        id,
        setTimeout(() => {
          timers.delete(id)
          process.stdout.write(line(id, textResult('slept')))
        }, args.ms),
      )
      return ''
    case 'bump':
      return line(id, textResult(String(++counter)))
    default:
      return line(id, textResult(args.text))
  }
}

function cancel(id: number): void {
  clearTimeout(timers.get(id))
  timers.delete(id)
  reportAbort()
}

function line(id: number, result: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}\n`
}
