import { relative } from 'node:path'

/** What a person can type next to see a server on a socket at work, ready to be copied. */
export function tryItLines(sockets: readonly string[]): readonly string[] {
  const [socket] = sockets
  if (socket === undefined) return []
  const command = `${quoted(process.execPath)} ${quoted(shorter(process.argv[1] ?? 'atenea-server'))}`
  const client = {
    mcpServers: {
      atenea: { command: process.execPath, args: [process.argv[1] ?? 'atenea-server', 'connect', socket] },
    },
  }
  return [
    `to see what is served: ${command} status ${quoted(socket)}`,
    `to connect a client that starts commands: ${JSON.stringify(client)}`,
    'to stop: press Ctrl-C',
  ]
}

/** A path relative to the working directory, if that is shorter. */
function shorter(path: string): string {
  const near = relative('.', path)
  return near !== '' && near.length < path.length ? near : path
}

function quoted(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
