import type { Socket } from 'node:net'

/** The end of a connection that hears of what happens to its socket. */
export interface Line {
  /** The socket is there, and everything on the way to the server stands. */
  onOpen(socket: Socket): void
  /** Takes what came; its memory is used again as soon as this returns. False stops the reading. */
  onBytes(bytes: Buffer, length: number): boolean
  /** The peer sends nothing more. */
  onPeerEnd(): void
  /** It is broken, closed, or never came about. */
  onGone(error: Error | undefined): void
}

/** Begins to connect. Disposing what it gives closes the connection, whatever has become of it; the line then hears nothing more of it. */
export type Dial = (line: Line) => Disposable
