import type { Socket } from 'node:net'
import { giveMemory, takeMemory } from './spare-memory.ts'

/** Up to here Node writes a string without allocating for it. */
const shortCharacters = 8_192

const encoder = new TextEncoder()

/**
 * Writes a request in one piece: its head, which has one byte for each character and lacks the length of the body and the blank line,
 * and its body in UTF-8.
 */
export function writeRequest(socket: Socket, head: string, body: string | undefined): void {
  if (body === undefined) {
    socket.write(`${head}\r\n`, 'latin1')
    return
  }
  if (body.length <= shortCharacters) {
    const bytes = Buffer.byteLength(body)
    // Then each of its characters is one byte too.
    if (bytes === body.length) {
      socket.write(`${headOf(head, bytes)}${body}`, 'latin1')
      return
    }
  }
  writeBytes(socket, head, body)
}

function headOf(head: string, bytes: number): string {
  return `${head}content-length: ${bytes}\r\n\r\n`
}

/** Encodes into memory that is there, since to count the bytes of a long string takes ten times as long as to encode it. */
function writeBytes(socket: Socket, head: string, body: string): void {
  const room = head.length + 40
  // A character is three bytes at the most, and hardly ever more than one.
  let memory = takeMemory(room + body.length + 1_024)
  let { read, written } = encoder.encodeInto(body, memory.subarray(room))
  if (read < body.length) {
    giveMemory(memory)
    memory = takeMemory(room + body.length * 3)
    ;({ read, written } = encoder.encodeInto(body, memory.subarray(room)))
  }
  const whole = headOf(head, written)
  const start = room - whole.length
  memory.write(whole, start, 'latin1')
  socket.write(memory.subarray(start, room + written), (error) => {
    // What failed may still be looked at.
    if (error == null) giveMemory(memory)
  })
}
