import { type Clock, withResolvers } from '@atenea/mcpcompat/transport'

/** How long subscriptions wait for the server to show that it offers a stream. One that is slow, or sends its head with the first event, has one. */
const offerMs = 1_000

/** Whether a server offers a stream for what belongs to no request. It has none as long as nobody asks for it. */
export class StreamOffer {
  #shown: boolean | Promise<boolean> = false

  /** What the server has shown, or will. */
  get shown(): boolean | Promise<boolean> {
    return this.#shown
  }

  /** Subscriptions wait from now on for what the server shows (BR-206), within bounds. Gives what takes that. */
  expect(clock: Clock): (isOpen: boolean) => void {
    const { promise, resolve } = withResolvers<boolean>()
    const late = clock.after(offerMs, () => resolve(true))
    this.#shown = promise
    return (isOpen) => {
      late[Symbol.dispose]()
      resolve(isOpen)
      this.#shown = isOpen
    }
  }
}
