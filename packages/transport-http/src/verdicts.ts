import { legacyVerdictMs, type ServerEra } from '@atenea/mcpcompat/transport'

/** What is remembered about one URL. */
export interface StoredVerdict extends ServerEra {
  /** Milliseconds since 1970; `undefined` for a verdict that only an answer of the server takes back. */
  readonly expiresAt: number | undefined
}

/**
 * Where verdicts about servers are kept, by URL. An application that wants to keep them beyond its own life brings one that
 * reads and writes a file. What it throws fails the connecting.
 */
export interface VerdictStore {
  get(url: string): StoredVerdict | undefined | Promise<StoredVerdict | undefined>
  set(url: string, verdict: StoredVerdict): void | Promise<void>
  delete(url: string): void | Promise<void>
}

/** URLs that are remembered; the oldest goes first. */
const maxVerdicts = 10_000

/** A store in memory. */
export function createVerdictStore(): VerdictStore {
  const verdicts = new Map<string, StoredVerdict>()
  return {
    get: (url) => verdicts.get(url),
    set(url, verdict) {
      verdicts.delete(url)
      verdicts.set(url, verdict)
      const [oldest] = verdicts.keys()
      if (verdicts.size > maxVerdicts && oldest !== undefined) verdicts.delete(oldest)
    },
    delete: (url) => void verdicts.delete(url),
  }
}

/** The key of a URL: without credentials and fragment, which do not change what is there. */
export function verdictKey(url: string): string {
  const key = new URL(url)
  key.username = ''
  key.password = ''
  key.hash = ''
  return key.href
}

/** What may be stored about a server now. */
export function storable({ era, revision }: ServerEra, nowMs: number): StoredVerdict {
  return { era, revision, expiresAt: era === 'legacy' ? nowMs + legacyVerdictMs : undefined }
}
