import { FlawedServer, type Message } from './core.ts'

// The fixture over stdin and stdout. Arguments: the flaw, the modern and the legacy revision.
const [flaw = '', modern = '', legacy = ''] = process.argv.slice(2)
const core = new FlawedServer({ flaw, modern, legacy })
const open = new Set<unknown>()
let rest = ''
let isFirst = true

function write(message: object): void {
  const text = JSON.stringify(message)
  process.stdout.write(flaw === 'stdout-content-length' ? `Content-Length: ${text.length}\r\n\r\n${text}` : `${text}\n`)
}

function take(line: string): void {
  let message: Message
  try {
    message = JSON.parse(line) as Message
  } catch {
    if (flaw === 'garbage-fatal') process.exit(1)
    write({ jsonrpc: '2.0', ...(flaw === 'id-null' && { id: null }), error: { code: -32_700, message: 'Parse error' } })
    return
  }
  const isProbe = core.claimOf(message) !== undefined
  if (isFirst && flaw === 'stdout-noise') process.stdout.write('Listening on stdio\n')
  if (isFirst && flaw === 'not-utf8') process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a]))
  if (isFirst && flaw === 'line-too-long') process.stdout.write(`${'x'.repeat(17 * 1024 * 1024)}\n`)
  isFirst = false
  if (isProbe && flaw === 'probe-fatal') process.exit(1)
  if (isProbe && flaw === 'probe-silent') return
  if (flaw === 'connection-broken' && message.method === 'prompts/list') process.exit(3)
  if (message.id === undefined) {
    cancel(message)
    return
  }
  if (flaw === 'eof-drops-answers' && message.id === 'last') return
  const { before, response, staysOpen } = core.answer(message)
  for (const one of before) write(one)
  if (staysOpen) open.add(message.id)
  if (response !== undefined) write(response)
}

function cancel({ method, params }: Message): void {
  if (flaw === 'notification-answered') write({ jsonrpc: '2.0', id: 'none', result: {} })
  if (method !== 'notifications/cancelled') return
  const id = params?.['requestId']
  if (open.delete(id) && flaw === 'listen-after-cancel')
    write({ jsonrpc: '2.0', id, result: { resultType: 'complete' } })
}

process.stdin.setEncoding('utf8').on('data', (text: string) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) take(line)
})
process.stdin.on('end', () => {
  if (flaw === 'exit-code') process.exitCode = 7
})
if (flaw === 'exit-at-eof') setInterval(() => undefined, 1000)
