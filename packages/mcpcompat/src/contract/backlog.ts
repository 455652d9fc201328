import { toText } from '../jsonrpc/json.ts'
import { memberOf } from '../member.ts'
import type { Call } from './call.ts'
import { notice as noticeName } from './methods.ts'

/** What may wait for a reader, in characters. Carriers let some wait themselves before they say that anything has to. */
const maxSize = 4 * 1024 * 1024

/**
 * Notices that a reader who is slow has not taken yet. Whoever sends them does not wait, since others are served meanwhile, so that there has to
 * be an end: progress and log messages beyond a limit are left out, and of changes those that wait already.
 */
export class Backlog {
  #size = 0
  readonly #changes = new Set<string>()

  /** Whether no more should be sent that is only said by the way. */
  get isFull(): boolean {
    return this.#size >= maxSize
  }

  /** Whether the same change waits already: its reader will look anew when it reads that, and two say no more than one. */
  holds(notice: Call): boolean {
    const change = changeIn(notice)
    return change !== undefined && this.#changes.has(change)
  }

  /** Counts a notice until it is taken. */
  async add(notice: Call, taken: Promise<void>): Promise<void> {
    const change = changeIn(notice)
    const size = toText(notice.params).length
    this.#size += size
    if (change !== undefined) this.#changes.add(change)
    try {
      await taken
    } finally {
      this.#size -= size
      if (change !== undefined) this.#changes.delete(change)
    }
  }
}

/** What has changed, for notices that say nothing else. */
function changeIn({ method, params }: Call): string | undefined {
  switch (method) {
    case noticeName.toolsChanged:
    case noticeName.promptsChanged:
    case noticeName.resourcesChanged:
      return method
    case noticeName.resourceUpdated: {
      const uri = memberOf(params, 'uri')
      return typeof uri === 'string' ? `${method} ${uri}` : undefined
    }
    default:
      return undefined
  }
}
