import { type JsonRecord, toText } from '../jsonrpc/json.ts'

/** What may wait for a reader, in characters. Carriers let some wait themselves before they say that anything has to. */
const maxSize = 4 * 1024 * 1024

/**
 * Notices that a reader who is slow has not taken yet. Whoever sends them does not wait, since others are served meanwhile, so that there has to
 * be an end: progress and log messages beyond a limit are left out.
 */
export class Backlog {
  #size = 0

  get isFull(): boolean {
    return this.#size >= maxSize
  }

  /** Counts a notice until it is taken. */
  async add(params: JsonRecord | undefined, taken: Promise<void>): Promise<void> {
    const size = params === undefined ? 0 : toText(params).length
    this.#size += size
    try {
      await taken
    } finally {
      this.#size -= size
    }
  }
}
