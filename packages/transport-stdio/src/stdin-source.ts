import type { ConnectOpts, SocketConstructorOpts } from 'node:net'
import type { Readable } from 'node:stream'
import { isPipe } from './pipe-descriptor.ts'

/** Bytes that are read at once. Longer messages come in several chunks. */
const bufferBytes = 64 * 1024

/**
 * Our stdin, as a stream that is only read through its `data` events. Chunks share one buffer: whoever wants to keep a chunk
 * beyond the event copies it.
 *
 * Where stdin is a pipe or a socket, as under every MCP client, it is read by a socket of our own with a buffer of its own:
 * `process.stdin` puts each chunk through the queue of a readable stream and a `process.nextTick`, which costs more than
 * answering a small call does, above all in a process that has just started. `process.stdin` must not be read beside it.
 */
export function openStdin(): Readable {
  return isPipe(0) ? openPipe() : process.stdin
}

function openPipe(): Readable {
  const { Socket } = process.getBuiltinModule('node:net')
  const buffer = Buffer.allocUnsafeSlow(bufferBytes)
  // Small requests are often of one size, and a view costs as much as a small object.
  let chunk = buffer
  // The constructor has always taken what `connect` takes; its type does not say so.
  const options: SocketConstructorOpts & ConnectOpts = {
    fd: 0,
    readable: true,
    writable: false,
    onread: {
      buffer,
      callback(size) {
        if (chunk.length !== size) chunk = buffer.subarray(0, size)
        socket.emit('data', chunk)
        return true
      },
    },
  }
  const socket = new Socket(options)
  return socket
}
