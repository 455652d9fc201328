import { BlobError } from './blob-error.ts'
import { parseDid } from './did.ts'
import { type AbortOptions, unlessAborted } from './abort.ts'

/** TXT records of a name, each joined from its parts. None is an empty list; a failure to find out is thrown. */
export type ResolveTxt = (name: string) => Promise<readonly string[]>

export interface CreateTxtResolverOptions {
  /** `address` or `address:port` of the servers to ask. Default: those of the system. */
  readonly nameservers?: readonly string[] | undefined
  /** Milliseconds for one question to one server. */
  readonly timeoutMs: number
}

/** Asks name servers. */
export function createTxtResolver({ nameservers, timeoutMs }: CreateTxtResolverOptions): ResolveTxt {
  const { Resolver } = process.getBuiltinModule('node:dns/promises')
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
  if (nameservers !== undefined) resolver.setServers(nameservers)
  return async (name) => {
    try {
      const records = await resolver.resolveTxt(name)
      return records.map((parts) => parts.join(''))
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === 'ENOTFOUND' || code === 'ENODATA') return []
      throw new BlobError('unreachable', `the TXT records of ${name} cannot be found out: ${String(code)}`, {
        cause: error,
        retryable: true,
      })
    }
  }
}

/** The longest name that DNS can be asked for. */
const maxNameLength = 253
const prefix = 'did='

/** The DID that the TXT record of a handle names, if it has one. A `BlobError` when there are several that differ. */
export async function didByDns(
  handle: string,
  resolveTxt: ResolveTxt,
  { signal }: AbortOptions,
): Promise<string | undefined> {
  const name = `_atproto.${handle}`
  if (name.length > maxNameLength) return undefined
  const asked = resolveTxt(name)
  const records = await (signal === undefined ? asked : unlessAborted(asked, signal))
  const dids = new Set(
    records.flatMap((record) => (record.startsWith(prefix) ? didOf(record.slice(prefix.length)) : [])),
  )
  if (dids.size > 1) {
    throw new BlobError('unconfirmed-handle', `the handle ${handle} names ${dids.size} different DIDs in DNS`)
  }
  return [...dids][0]
}

/** A record that holds no DID is no valid one, and is ignored. */
function didOf(text: string): string[] {
  try {
    return [parseDid(text).text]
  } catch {
    return []
  }
}
