import type { IncomingMessage } from 'node:http'
import type { BodyReader } from '../carrier/body-reading.ts'
import { fieldsOf } from './header-fields.ts'

const nothing: string[] = []
const noHeaders = {}

/**
 * Requests for a server of our own, which hand their bodies to whoever reads them as the parser finds them. In the queue of a stream
 * each would wait for three more turns, which costs a tenth of a call. Who does not ask for that gets a stream like any other.
 */
export function directRequests(Incoming: typeof IncomingMessage): typeof IncomingMessage {
  return class DirectRequest extends Incoming {
    #reader: BodyReader | undefined
    /** Something is in the queue of the stream, so that all of it has to be read there. */
    #queued = false
    #ended = false
    /** Worked out when somebody asks. */
    #fields: object | undefined

    // the types say that these are no accessors
    static {
      Object.defineProperty(DirectRequest.prototype, 'headers', {
        configurable: true,
        get(this: DirectRequest): unknown {
          this.#fields ??= fieldsOf(this.rawHeaders) ?? (Reflect.get(Incoming.prototype, 'headers', this) as object)
          return this.#fields
        },
        set(this: DirectRequest, fields: object) {
          this.#fields = fields
        },
      })
      // by this the server sees, once a request is answered, that it need not hold it any longer
      Object.defineProperty(DirectRequest.prototype, 'readableEnded', {
        configurable: true,
        get(this: DirectRequest): boolean {
          return this.#ended || Reflect.get(Incoming.prototype, 'readableEnded', this) === true
        },
      })
    }

    /** See `NodeRequest`. */
    readInto(reader: BodyReader): boolean {
      if (this.#queued) return false
      this.#reader = reader
      // as the first read of a stream does: says that somebody reads, and lets the connection flow
      this._read(0)
      return true
    }

    /** See `NodeRequest`. */
    forget(): void {
      this.rawHeaders = nothing
      this.headers = noHeaders
    }

    override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
      const reader = this.#reader
      this.#reader = undefined
      reader?.gone()
      super._destroy(error, callback)
    }

    override push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
      const reader = this.#reader
      if (reader === undefined) {
        this.#queued = true
        return super.push(chunk, encoding)
      }
      if (chunk !== null) reader.take(chunk)
      else {
        this.#ended = true
        this.#reader = undefined
        reader.end()
      }
      return true
    }
  }
}
