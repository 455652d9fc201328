import { headerName, isSessionId } from '@atenea/mcpcompat/transport'

const contentType = { 'content-type': 'application/json' }

/** What a server told in the handshake and finds in the head of every request after it (LG-HTTP-09, A19). */
export class SessionFields {
  /** The fields of a POST; made anew when one of them becomes known. */
  post: Readonly<Record<string, string>> = contentType
  #sessionId: string | undefined
  #revision: string | undefined

  /** Whether the server gave the session an id. */
  get hasId(): boolean {
    return this.#sessionId !== undefined
  }

  /** The fields of a request without a body. */
  get all(): Record<string, string> {
    return {
      ...(this.#revision !== undefined && { [headerName.protocolVersion]: this.#revision }),
      ...(this.#sessionId !== undefined && { [headerName.sessionId]: this.#sessionId }),
    }
  }

  /** False when no header can hold the id (LG-SESS-02). */
  takeId(id: string): boolean {
    if (!isSessionId(id)) return false
    this.#sessionId = id
    this.post = { ...this.all, ...contentType }
    return true
  }

  /** Takes the revision that was agreed on, unless no header can hold it. */
  takeRevision(revision: unknown): void {
    if (typeof revision !== 'string' || !/^[\x21-\x7E]{1,64}$/.test(revision)) return
    this.#revision = revision
    this.post = { ...this.all, ...contentType }
  }
}
