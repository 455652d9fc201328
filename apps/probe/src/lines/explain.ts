import type { Trouble } from '../trouble.ts'
import type { LinePeer } from './line-peer.ts'

/** Why a process or a socket gave no answer at all, in words for people. */
export async function explainLines(peer: LinePeer, timeoutMs: number): Promise<Trouble> {
  const { wire } = peer
  if (wire.faults.has('content-length')) {
    return {
      cause:
        'The server frames its messages with Content-Length headers, as language servers do; MCP has one message a line.',
      repair: 'Update the MCP library of the server, or start it in the mode for MCP.',
    }
  }
  const epitaph = await peer.epitaph()
  if (wire.hasEnded) {
    return {
      cause: `${peer.name} ${epitaph === '' ? 'closes the connection' : epitaph} before it answers anything.`,
      repair: peer.isProcess
        ? 'Run the command by hand and read what it prints; often an argument, a variable (env) or an install is missing.'
        : 'See the log of the server.',
    }
  }
  const [noise] = wire.noise
  if (noise !== undefined) {
    return {
      cause: `${peer.name} prints on stdout what is no MCP message (${JSON.stringify(noise.text.slice(0, 80))}), and answers nothing within ${timeoutMs} ms.`,
      repair: 'Start it in its MCP mode for stdio, and let it log to stderr.',
    }
  }
  return {
    cause: `${peer.name} runs, but says nothing within ${timeoutMs} ms.`,
    repair:
      'Check that the command starts a server for stdio (some need an argument such as "stdio"), and not one for HTTP. If it only starts slowly, give a longer --timeout-ms.',
  }
}
