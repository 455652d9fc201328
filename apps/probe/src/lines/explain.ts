import type { Trouble } from '../trouble.ts'
import type { LinePeer } from './line-peer.ts'

/** Why a process or a socket gave no answer at all, in words for people. */
export async function explainLines(peer: LinePeer, timeoutMs: number): Promise<Trouble> {
  const trouble = await explain(peer, timeoutMs)
  if (peer.isProcess) return trouble
  return {
    ...trouble,
    repair: 'Check that the path is that of the socket of an MCP server, and see the log of that server.',
  }
}

async function explain(peer: LinePeer, timeoutMs: number): Promise<Trouble> {
  const { wire } = peer
  const [prints, runs] = peer.isProcess ? ['prints on stdout', 'runs'] : ['writes', 'accepts the connection']
  if (wire.faults.has('content-length')) {
    return {
      cause:
        'The server frames its messages with Content-Length headers, as language servers do; MCP has one message a line.',
      repair: 'Update the MCP library of the server, or start it in the mode for MCP.',
    }
  }
  if (wire.isEcho) {
    return {
      cause: `${peer.name} sends back what it gets, as a terminal or a program such as cat does, and answers nothing.`,
      repair:
        'Start it without a terminal (docker run -i without -t, ssh -T), and check that it is the server that starts.',
    }
  }
  if (wire.isFlooded) {
    return {
      cause: `${peer.name} ${prints} without end${wire.noise[0] === undefined ? '' : ` (${JSON.stringify(wire.noise[0].text.slice(0, 80))})`}, and answers nothing.`,
      repair: 'Check that it is the server that starts, in its MCP mode for stdio, and let it log to stderr.',
    }
  }
  const epitaph = await peer.epitaph()
  if (wire.hasEnded) {
    return {
      cause: `${peer.name} ${epitaph === '' ? 'closes the connection' : epitaph} before it answers anything.`,
      repair:
        'Run the command by hand and read what it prints; often an argument, a variable (env) or an install is missing.',
    }
  }
  const url = urlIn([...wire.noise.map(({ text }) => text), ...peer.lastLogs])
  if (url !== undefined) {
    return {
      cause: `${peer.name} serves HTTP, by what it prints (${url}), and says nothing on stdout that is MCP.`,
      repair: `Probe its URL while it runs: atenea-probe ${url}; or start it in its mode for stdio.`,
    }
  }
  if (wire.faults.has('too-long')) {
    return {
      cause: `${peer.name} ${prints} without ever ending a line.`,
      repair: 'Start it in its MCP mode for stdio; each message is one line.',
    }
  }
  if (/^\s*\{\s*$/.test(wire.noise[0]?.text ?? '') && wire.noise.some(({ text }) => text.includes('"jsonrpc"'))) {
    return {
      cause: `${peer.name} writes each message over several lines; MCP has one message a line.`,
      repair: 'Write messages without indentation, as JSON.stringify(message) does.',
    }
  }
  const [noise] = wire.noise
  if (noise === undefined && wire.hasOpenLine) {
    return {
      cause: `${peer.name} writes on stdout, but does not end the line, so that clients wait for the rest.`,
      repair: 'Write a line feed after each message, and flush.',
    }
  }
  if (noise !== undefined) {
    return {
      cause: `${peer.name} ${prints} what is no MCP message (${JSON.stringify(noise.text.slice(0, 80))}), and answers nothing within ${timeoutMs} ms.`,
      repair: 'Start it in its MCP mode for stdio, and let it log to stderr.',
    }
  }
  return {
    cause: `${peer.name} ${runs}, but says nothing within ${timeoutMs} ms.`,
    repair:
      'Check that the command starts a server for stdio (some need an argument such as "stdio"), and not one for HTTP. If it only starts slowly, give a longer --timeout-ms.',
  }
}

/** The first URL of this machine in what a server prints, in a form that can be asked. */
function urlIn(lines: readonly string[]): string | undefined {
  const found = /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):\d+(?:\/[\w./-]*)?/i.exec(
    lines.join('\n'),
  )?.[0]
  if (found === undefined) return undefined
  const url = new URL(found.replace(/\/\/(?:0\.0\.0\.0|\[::\])/, '//127.0.0.1'))
  if (url.pathname === '/') url.pathname = '/mcp'
  return url.href
}
