import { systemClock, within } from '@atenea/mcpcompat/transport'
import type { ServerConnection } from '@atenea/transport-stdio'

/** Longer than the pauses between the end of its input, SIGTERM and SIGKILL, after which nothing is left of a child. */
const patienceMs = 6_000

/**
 * The processes that run. Whoever connects to a server gives one up that was no use, or that nobody waits for any more, and does not wait
 * for its end; whoever ends the program has to. Disposing it stops what still runs, and resolves when nothing is left of it.
 */
export class Children implements AsyncDisposable {
  readonly #starting = new Set<Promise<ServerConnection>>()
  readonly #running = new Set<ServerConnection>()

  /** Takes a process that is just being started, and gives it when it runs. */
  async add(starting: Promise<ServerConnection>): Promise<ServerConnection> {
    this.#starting.add(starting)
    try {
      const server = await starting
      this.#running.add(server)
      void server.exited.then(() => this.#running.delete(server))
      return server
    } finally {
      this.#starting.delete(starting)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await within(Promise.allSettled(this.#starting), patienceMs, systemClock)
    const stopping = [...this.#running].map(async (server) => await server[Symbol.asyncDispose]())
    await within(Promise.allSettled(stopping), patienceMs, systemClock)
  }
}
