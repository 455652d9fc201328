import { abortable, type PeerSession, type Resolvers, withResolvers } from '@atenea/mcpcompat/transport'

/** Clients whose connection was closed since they seem to have gone; their subscriptions wait for the next call. */
export class RestingClients {
  readonly #clients = new Map<PeerSession, Resolvers<void>>()

  add(session: PeerSession): void {
    this.#clients.set(session, withResolvers())
  }

  /** Resolves when the client is there again, or has been all the time. Rejects with the signal's reason. */
  async awake(session: PeerSession, signal: AbortSignal): Promise<void> {
    const client = this.#clients.get(session)
    if (client !== undefined) await abortable(client.promise, signal)
  }

  /** The client is there again. */
  wake(session: PeerSession): void {
    this.#clients.get(session)?.resolve()
    this.forget(session)
  }

  /** The client will not come back. */
  forget(session: PeerSession): void {
    this.#clients.delete(session)
  }
}
