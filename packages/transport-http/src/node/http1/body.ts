import { type AbortWatcher, TransportError } from '@atenea/mcpcompat'
import { type Channel, channel, type Resolvers, withResolvers } from '@atenea/mcpcompat/transport'
import { tooLarge } from '../../read-body.ts'
import type { Ending, HttpBody } from '../../send.ts'
import type { Connection } from './connection.ts'
import { textOf } from './text-of.ts'

export interface AnswerBodyOptions {
  readonly connection: Connection
  /** Ends the exchange; it is let go when the body has come. */
  readonly ending: Ending
  /** Bytes that it has, where the head says so. */
  readonly length: number | undefined
  /** The error for an answer that breaks off. */
  readonly brokeOff: (cause: Error) => TransportError
}

/** What is copied for a reader that has not come yet, or waits for the whole. */
const maxAtOnceBytes = 1_048_576

/**
 * The body of one answer. Nothing more than two reads of it are taken off the connection before somebody wants it, and nothing more than
 * a reader can hold up afterwards.
 */
export class AnswerBody implements HttpBody, AbortWatcher {
  readonly #options: AnswerBodyOptions
  /** What has come for whoever will read, or waits for the whole. */
  #held: Buffer | undefined
  #heldBytes = 0
  #channel: Channel<Uint8Array> | undefined
  #whole: Resolvers<string> | undefined
  #maxBytes = 0
  #isOver = false
  #failure: Error | undefined

  constructor(options: AnswerBodyOptions) {
    this.#options = options
    options.ending.watch(this)
  }

  text(maxBytes: number): string | Promise<string> {
  }
}
