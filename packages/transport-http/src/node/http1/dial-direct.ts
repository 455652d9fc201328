import type { Socket } from 'node:net'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import type { Dial, Line } from './line.ts'
import { readInto } from './read-buffer.ts'

/** Where a server, or a proxy, listens. */
export interface Address {
  readonly isTls: boolean
  /** Without the brackets of IPv6. */
  readonly host: string
  readonly port: number
}

/** Options of every connection: what is written leaves at once, and a peer that is gone without a word is noticed in the end. */
export const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 1_000 } as const

/** Makes connections to a server itself. */
export function dialDirect(address: Address): Dial {
  const { host, port, isTls } = address
  if (!isTls) {
    return (line) => {
      const { connect } = process.getBuiltinModule('node:net')
      const socket = connect({ ...socketOptions, host, port, onread: readInto(line) })
      socket.once('connect', () => line.onOpen(socket))
      return wire(socket, line)
    }
  }
  const sessions = new TlsSessions()
  return (line) => {
    const { connect } = process.getBuiltinModule('node:tls')
    const options = { ...tlsOptions(host), ...socketOptions, host, port, onread: readInto(line) }
    const socket = connect(sessions.resume(options))
    sessions.learn(socket)
    socket.once('secureConnect', () => line.onOpen(socket))
    return wire(socket, line)
  }
}

/** What a server is told in the handshake, and what its certificate has to show. */
export function tlsOptions(host: string): ConnectionOptions {
  const { isIP } = process.getBuiltinModule('node:net')
  return { servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['http/1.1'] }
}

/** The session of the last handshake, which makes the next one cheaper. */
class TlsSessions {
  #last: Buffer | undefined

  resume<T extends ConnectionOptions>(options: T): T {
    return this.#last === undefined ? options : { ...options, session: this.#last }
  }

  learn(socket: TLSSocket): void {
    socket.on('session', (session) => {
      this.#last = session
    })
    // It may be the session that the server does not like.
    socket.once('error', () => {
      this.#last = undefined
    })
  }
}

/** Tells a line what happens to its socket. */
export function wire(socket: Socket, line: Line): Disposable {
  let isGone = false
  const gone = (error: Error | undefined): void => {
    if (isGone) return
    isGone = true
    line.onGone(error)
  }
  socket.on('error', gone)
  socket.once('close', () => gone(undefined))
  socket.once('end', () => {
    if (!isGone) line.onPeerEnd()
  })
  return {
    [Symbol.dispose]() {
      isGone = true
      socket.destroy()
    },
  }
}
