/** One whole response. */
export interface HttpAnswer {
  readonly status: number
  /** Names of fields are in lower case. */
  readonly head: ResponseHead
  readonly body: Buffer
}

/** What the bench looks at in the head of a response. */
export interface ResponseHead {
  readonly status: number
  /** Bytes of the body; undefined when it comes in chunks. */
  readonly length: number | undefined
  readonly sessionId: string | undefined
}

/** Takes bytes of a connection as they come, and tells every whole response. */
export interface ResponseReader {
  take(chunk: Buffer): void
}

const headEnd = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')
const nothing = Buffer.alloc(0)

/**
 * Reads the responses of one connection. Heads differ in their date only, so the last one is remembered and costs a comparison.
 * Throws when bytes are no HTTP/1.1.
 */
export function createResponseReader(onAnswer: (answer: HttpAnswer) => void): ResponseReader {
  let knownBytes = nothing
  let known: ResponseHead | undefined
  let waiting: Buffer[] = []
  let waitingBytes = 0
  /** How many bytes have to be there before it is worth looking again. */
  let needed = 1

  function headOf(bytes: Buffer): ResponseHead {
    if (known === undefined || !bytes.equals(knownBytes)) {
      known = parseHead(bytes.toString('latin1'))
      knownBytes = Buffer.from(bytes)
    }
    return known
  }

  /** Takes one response off the front, and returns the rest; undefined when it is not complete. */
  function takeOne(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(headEnd)
    if (end === -1) return undefined
    const start = end + headEnd.length
    const head = headOf(bytes.subarray(0, start))
    if (head.length === undefined) {
      const body = readChunks(bytes, start)
      if (body === undefined) return undefined
      onAnswer({ status: head.status, head, body: Buffer.concat(body.parts) })
      return bytes.subarray(body.end)
    }
    if (bytes.length < start + head.length) {
      needed = start + head.length
      return undefined
    }
    onAnswer({ status: head.status, head, body: bytes.subarray(start, start + head.length) })
    return bytes.subarray(start + head.length)
  }

  return {
    take(chunk) {
      waiting.push(chunk)
      waitingBytes += chunk.length
      if (waitingBytes < needed) return
      let bytes: Buffer = waiting.length === 1 ? chunk : Buffer.concat(waiting)
      waiting = []
      needed = 1
      while (bytes.length > 0) {
        const rest = takeOne(bytes)
        if (rest === undefined) {
          waiting.push(bytes)
          break
        }
        bytes = rest
      }
      waitingBytes = bytes.length
    },
  }
}

/** The head of a response, from its text. */
function parseHead(text: string): ResponseHead {
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)
  if (status === null) throw new Error(`no HTTP response: ${text.slice(0, 200)}`)
  const code = Number(status[1])
  const length = /^content-length:\s*(\d+)\s*$/im.exec(text)
  const chunked = /^transfer-encoding:\s*chunked\s*$/im.test(text)
  if (length === null && !chunked && code !== 204 && code !== 304) {
    throw new Error(`a response without an end: ${text.slice(0, 500)}`)
  }
  return {
    status: code,
    length: length === null ? (chunked ? undefined : 0) : Number(length[1]),
    sessionId: /^mcp-session-id:\s*(\S+)\s*$/im.exec(text)?.[1],
  }
}

function readChunks(
  bytes: Buffer,
  start: number,
): { readonly parts: readonly Buffer[]; readonly end: number } | undefined {
  const parts: Buffer[] = []
  for (let at = start; ; ) {
    const lineAt = bytes.indexOf(lineEnd, at)
    if (lineAt === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineAt), 16)
    if (Number.isNaN(size)) throw new Error('a chunk without a size')
    const begin = lineAt + lineEnd.length
    const end = begin + size + lineEnd.length
    if (bytes.length < end) return undefined
    if (size === 0) return { parts, end }
    parts.push(bytes.subarray(begin, begin + size))
    at = end
  }
}
