/** A JSON-RPC message, as far as a relay looks into it. */
export interface Message {
  id?: number | string
  readonly method?: string
  readonly params?: { readonly name?: string; readonly _meta?: Readonly<Record<string, string>> }
}

/** Reads one. */
export function parse(text: string): Message {
  return JSON.parse(text) as Message
}
