import type { ServerConnection } from '@atenea/transport-stdio'

/**
 * A server that is started before anybody asks for it, for whoever asks first: it gets ready while the rest of the proxy does. Who owns the
 * process is for `start` to say.
 */
export class EarlyServer {
  #starting: Promise<ServerConnection | undefined> | undefined
  #hasEnded = false

  constructor(start: () => Promise<ServerConnection>) {
    this.#starting = this.#start(start)
  }

  /** Gives it away, once. `undefined` when there is none any more, or it could not be started: whoever asks starts one, and hears why not. */
  async take(): Promise<ServerConnection | undefined> {
    const starting = this.#starting
    this.#starting = undefined
    const server = await starting
    return this.#hasEnded ? undefined : server
  }

  async #start(start: () => Promise<ServerConnection>): Promise<ServerConnection | undefined> {
    try {
      const server = await start()
      void server.exited.then(() => {
        this.#hasEnded = true
      })
      return server
    } catch {
      return undefined
    }
  }
}
