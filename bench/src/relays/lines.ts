import type { Readable, Writable } from 'node:stream'

const newline = 0x0a

/** Tells the text of every whole line of a stream, without its newline. */
export function onLines(stream: Readable, take: (line: string) => void): void {
  let parts: Buffer[] = []
  stream.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf(newline) + 1
    if (end === 0) {
      parts.push(chunk)
      return
    }
    let text = chunk.toString('utf8', 0, end)
    if (parts.length > 0) {
      parts.push(chunk.subarray(0, end))
      text = Buffer.concat(parts).toString('utf8')
      parts = []
    }
    if (end < chunk.length) parts.push(chunk.subarray(end))
    for (let start = 0; start < text.length; ) {
      const stop = text.indexOf('\n', start)
      take(text.slice(start, stop))
      start = stop + 1
    }
  })
}

/** Writes lines, all that come in one turn of the event loop at once. */
export function lineWriter(stream: Writable): (line: string) => void {
  let waiting = ''
  const flush = (): void => {
    stream.write(waiting)
    waiting = ''
  }
  return (line) => {
    if (waiting === '') setImmediate(flush)
    waiting += `${line}\n`
  }
}
