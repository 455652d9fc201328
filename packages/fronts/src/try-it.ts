import { isTerminal } from '@atenea/cli'
import { relative } from 'node:path'

/** What a person can type next to see a server on a socket at work, ready to be copied. Ends with a line feed. */
export function tryItText(name: string, [socket]: readonly string[]): string {
  if (socket === undefined) return ''
  const program = process.argv[1] ?? name
  const client = { mcpServers: { atenea: { command: process.execPath, args: [program, 'connect', socket] } } }
  return `
Try it, in another terminal:
  ${command(name)} status ${quoted(socket)}
Connect a client that starts commands, with this in its configuration:
  ${JSON.stringify(client)}
Press Ctrl-C to stop.

`
}

/** The same for a server that HTTP clients reach. */
export function tryHttpText(name: string, [url]: readonly string[]): string {
  if (url === undefined) return ''
  const client = { mcpServers: { atenea: { type: 'http', url } } }
  return `
Try it, in another terminal:
  ${command(name)} status ${quoted(url)}
Connect a client that speaks HTTP, with this in its configuration:
  ${JSON.stringify(client)}
Press Ctrl-C to stop.

`
}

/** How this program was started, ready to be copied. */
function command(name: string): string {
  return `${quoted(process.execPath)} ${quoted(shorter(process.argv[1] ?? name))}`
}

/** For a person who started the server by hand and now waits: nothing will be printed until a client speaks. */
export function terminalHint(name: string): string {
  if (!isTerminal(0)) return ''
  return `Waiting for an MCP client on stdin. To serve on a socket instead: ${name} --socket default. To stop: Ctrl-D.\n`
}

/** A path relative to the working directory, if that is shorter. */
function shorter(path: string): string {
  const near = relative('.', path)
  return near !== '' && near.length < path.length ? near : path
}

function quoted(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
