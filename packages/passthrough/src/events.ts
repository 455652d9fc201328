/** Something that an operator may want to see, for logs and metrics. Holds no payload and no secret. */
export type PassthroughEvent =
  /** A connection stands; what was asked for and what the backend has shown are kept apart. */
  | {
      readonly kind: 'connected'
      readonly backend: string
      readonly requested: string
      readonly observed: string
      readonly row: string | undefined
      readonly restart: boolean
    }
  | { readonly kind: 'connect-failed'; readonly backend: string; readonly message: string; readonly retryInMs: number }
  /** A connection ended by itself, with calls that it took along. */
  | { readonly kind: 'lost'; readonly backend: string; readonly message: string; readonly failedCalls: number }
  /** A call took too long; the backend was told that nobody waits any more. */
  | { readonly kind: 'timeout'; readonly backend: string; readonly method: string; readonly afterMs: number }
  /** What merging and policy have to report: collisions, drift, tools that were left out. `code` is stable and kebab-case. */
  | {
      readonly kind: 'list'
      readonly level: 'info' | 'warning'
      readonly code: string
      readonly backend: string | undefined
      readonly message: string
      readonly names: readonly string[]
    }

export type OnPassthroughEvent = (event: PassthroughEvent) => void
