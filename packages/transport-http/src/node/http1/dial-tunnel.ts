import type { Socket } from 'node:net'
import { type Address, socketOptions, tlsOptions, wire } from './dial-direct.ts'
import { HttpFault } from './fault.ts'
import type { Dial, Line } from './line.ts'
import { ResponseParser, type ResponseReader } from './response-parser.ts'
import type { ResponseHead } from './response-head.ts'
import { TunnelRefused } from './tunnel-refused.ts'

export interface DialTunnelOptions {
  readonly proxy: Address
  /** Fields for the proxy, each with its line end. */
  readonly fields: string
  /** The server behind, which speaks TLS. */
  readonly server: Address
}

/** Makes connections to a server through a proxy, which hears nothing but where they go (`CONNECT`). */
export function dialTunnel({ proxy, fields, server }: DialTunnelOptions): Dial {
  return (line) => {
    let present: Disposable | undefined
    const outer = connectTo(proxy, (socket) => {
      askThrough(socket, requestOf(server, fields), {
        onThrough: () => {
          const { connect } = process.getBuiltinModule('node:tls')
          const inner = connect({ ...tlsOptions(server.host), host: server.host, socket })
          inner.once('secureConnect', () => line.onOpen(inner))
          inner.on('data', (chunk: Buffer) => {
            if (!line.onBytes(chunk, chunk.length)) inner.pause()
          })
          present = wire(inner, line)
        },
        onRefused: (error) => line.onGone(error),
      })
    })
    // What is wrong with the outer one is wrong with the inner one too, which tells.
    const first = wire(
      outer,
      only(line, () => present === undefined),
    )
    return {
      [Symbol.dispose]() {
        present?.[Symbol.dispose]()
        first[Symbol.dispose]()
      },
    }
  }
}

function connectTo({ host, port, isTls }: Address, opened: (socket: Socket) => void): Socket {
  if (!isTls) {
    const socket = process.getBuiltinModule('node:net').connect({ ...socketOptions, host, port })
    return socket.once('connect', () => opened(socket))
  }
  const socket = process.getBuiltinModule('node:tls').connect({ ...tlsOptions(host), ...socketOptions, host, port })
  return socket.once('secureConnect', () => opened(socket))
}

function requestOf({ host, port }: Address, fields: string): string {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${fields}\r\n`
}

interface Heard {
  onThrough(): void
  onRefused(error: Error): void
}

/** Asks a proxy for a tunnel. From then on the socket belongs to whoever goes through. */
function askThrough(socket: Socket, request: string, heard: Heard): void {
  const parser = new ResponseParser()
  let answer: ResponseHead | undefined
  const reader: ResponseReader = {
    onHead: (head) => {
      answer = head
      // The page that says why is of no use to a program.
      parser.forget()
    },
    onPiece: () => undefined,
    onEnd: () => undefined,
  }
  parser.expect(reader, 'tunnel')
  const onData = (chunk: Buffer): void => {
    let taken: number
    try {
      taken = parser.take(chunk, chunk.length)
    } catch (fault) {
      heard.onRefused(fault as Error)
      return
    }
    if (answer === undefined) return
    socket.off('data', onData)
    if (answer.status >= 300) heard.onRefused(new TunnelRefused(answer))
    // The server speaks only after us.
    else if (taken < chunk.length) heard.onRefused(new HttpFault('the proxy on the way sent more than its answer'))
    else heard.onThrough()
  }
  socket.on('data', onData)
  socket.write(request, 'latin1')
}

/** The line as long as something holds. */
function only(line: Line, holds: () => boolean): Line {
  return {
    onOpen: (socket) => line.onOpen(socket),
    onBytes: (bytes, length) => line.onBytes(bytes, length),
    onPeerEnd: () => {
      if (holds()) line.onPeerEnd()
    },
    onGone: (error) => {
      if (holds()) line.onGone(error)
    },
  }
}
