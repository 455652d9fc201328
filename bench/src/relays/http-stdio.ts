import { spawn } from 'node:child_process'
import type { ServerResponse } from 'node:http'
import { listenForPosts, sendAccepted, sendJson } from './http-front.ts'
import { lineWriter, onLines } from './lines.ts'
import { parse } from './message.ts'

/*
 * The least that HTTP in front of one stdio child can be: parses each message once per direction, gives requests ids that are unique
 * at the child, and writes what comes in one turn at once. It validates nothing and forwards no notices.
 */

interface Open {
  readonly id: number | string
  readonly opens: boolean
  readonly res: ServerResponse
}

const [port, program = '', ...args] = process.argv.slice(2)
const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
process.once('exit', () => child.kill())
const write = lineWriter(child.stdin)
const open = new Map<number, Open>()
let nextId = 1
let sessions = 0

onLines(child.stdout, (line) => {
  const message = parse(line)
  const call = open.get(message.id as number)
  if (call === undefined) return
  open.delete(message.id as number)
  message.id = call.id
  sendJson(call.res, JSON.stringify(message), call.opens ? ['Mcp-Session-Id', `session-${++sessions}`] : [])
})

listenForPosts(Number(port), (text, _headers, res) => {
  const message = parse(text)
  if (message.id === undefined) {
    write(JSON.stringify(message))
    sendAccepted(res)
    return
  }
  open.set(nextId, { id: message.id, opens: message.method === 'initialize', res })
  message.id = nextId++
  write(JSON.stringify(message))
})
