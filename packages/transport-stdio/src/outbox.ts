import type { Writable } from 'node:stream'
import { type Resolvers, withResolvers } from '@atenea/mcpcompat/transport'

export interface Outbox {
  /**
   * Takes one message as text. What is put in during one turn of the event loop leaves in one write. Returns a promise when more
   * than 256 KiB wait for the peer; it resolves when they have left, and also when the stream is gone.
   */
  put(text: string): void | Promise<void>
  /** A chunk was read: what is put in next are answers to it, and leave as soon as those that need no waiting are there. */
  turnStarted(): void
  /** Writes what waits, and resolves when the system has taken it, the stream is gone, or the time has passed. */
  flush(timeoutMs: number): Promise<void>
  /** From now on senders wait for so long at most, since the peer may never read again. `onStuck` is called when one has. */
  limitWaits(timeoutMs: number, onStuck: () => void): void
  /** Lets go whoever waits: nothing will leave any more. */
  release(): void
}

/** How much may lie unread. Many calls can be open, and each may be answered at length. */
export interface UnreadLimit {
  readonly maxBytes: number
  /** How long more than that may wait while the peer takes nothing. */
  readonly patienceMs: number
  readonly onExceeded: () => void
}

/** `Writable.write`, or what stands for it where the method of the stream is guarded. */
export type WriteText = (text: string, callback?: () => void) => boolean

/** Characters after which a turn's output is written without waiting for the turn to end. */
const writeAtLength = 64 * 1024
/** Bytes that may wait in the stream before a sender is told to wait. */
const waitAtBytes = 256 * 1024

/** A microtask by way of a promise: `queueMicrotask` of Node makes an object for its hooks each time. */
const settled = Promise.resolve()

/**
 * Gathers messages and writes them to a stream, a whole line each (MS-FRM-01).
 *
 * One write costs 5 µs, so answers to the messages of one chunk go out together, in a microtask after the one that dealt with the
 * chunk. `process.nextTick` would gather more, but makes a process that has just started spend twice the time on a call. Outside such a
 * turn they go out when the loop has run every callback that was due.
 */
export function createOutbox(writable: Writable, writeText: WriteText, unread: UnreadLimit): Outbox {
  let text = ''
  let scheduled = false
  let inTurn = false
  let drained: Resolvers<void> | undefined
  let limit: { readonly timeoutMs: number; readonly onStuck: () => void } | undefined
  let limitTimer: NodeJS.Timeout | undefined
  let unreadTimer: NodeJS.Timeout | undefined
  /** Bytes that would wait now if the peer had taken none since the timer was started. */
  let expected = 0

  function write(): void {
    scheduled = false
    inTurn = false
    if (text === '') return
    const out = text
    text = ''
    if (writable.writable) writeText(out)
  }

  function release(): void {
    clearTimeout(limitTimer)
    stopUnread()
    drained?.resolve()
    drained = undefined
  }

  function stopUnread(): void {
    clearTimeout(unreadTimer)
    unreadTimer = undefined
  }

  /** The peer may only have been given much at once, so it has a while to begin with it. */
  function watchUnread(line: string): void {
    if (writable.writableLength <= unread.maxBytes) stopUnread()
    else if (unreadTimer === undefined) startUnread()
    else expected += Buffer.byteLength(line) + 1
  }

  function startUnread(): void {
    expected = writable.writableLength
    unreadTimer = setTimeout(() => {
      unreadTimer = undefined
      if (writable.writableLength <= unread.maxBytes) return
      if (writable.writableLength >= expected) unread.onExceeded()
      else startUnread()
    }, unread.patienceMs).unref()
  }

  function watchWait(): void {
    if (limit !== undefined) limitTimer = setTimeout(limit.onStuck, limit.timeoutMs)
  }

  function wait(): Promise<void> {
    if (drained === undefined) {
      drained = withResolvers()
      watchWait()
    }
    return drained.promise
  }
  writable.on('drain', release)
  writable.on('close', release)
  writable.on('error', release)

  return {
    put(line) {
      text = text === '' ? `${line}\n` : `${text}${line}\n`
      if (text.length >= writeAtLength) write()
      else if (!scheduled) {
        scheduled = true
        if (inTurn) void settled.then(write)
        else setImmediate(write)
      }
      if (writable.writableLength < waitAtBytes || !writable.writable) return undefined
      watchUnread(line)
      return wait()
    },

    turnStarted() {
      inTurn = true
    },

    async flush(timeoutMs) {
      write()
      if (!writable.writable || writable.writableLength === 0) return
      const { promise, resolve } = withResolvers<void>()
      const timer = setTimeout(resolve, timeoutMs)
      writable.once('close', resolve)
      // The callback of a write runs after those of all writes before it; an empty one adds nothing to the stream.
      writeText('', () => resolve())
      await promise
      clearTimeout(timer)
      writable.off('close', resolve)
    },

    limitWaits(timeoutMs, onStuck) {
      limit = { timeoutMs, onStuck }
      if (drained !== undefined) watchWait()
    },

    release,
  }
}
