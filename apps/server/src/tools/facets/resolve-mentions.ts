import { BlobError } from '@atenea/blobs'
import type { AbortOptions } from '@atenea/mcpcompat'
import { linkSignals } from '@atenea/mcpcompat/transport'
import type { Atproto } from '../../atproto/atproto.ts'
import type { ParsedFacets } from './parse-facets.ts'

/** Milliseconds for all handles of a text: a post should not wait for a domain that does not answer. */
const timeoutMs = 10_000

type Resolved = { readonly did: string } | { readonly problem: string }

/** The facets with their mentions, as far as the handles can be resolved. Fails only when the caller cancels. */
export async function resolveMentions(
  { blobs }: Atproto,
  parsed: ParsedFacets,
  { signal }: AbortOptions,
): Promise<ParsedFacets> {
  using limit = linkSignals([signal], { timeoutMs })

  async function resolve(handle: string): Promise<readonly [string, Resolved]> {
    try {
      const { did } = await blobs.identity.resolve(handle, { signal: limit.signal })
      return [handle, { did }]
    } catch (error) {
      signal?.throwIfAborted()
      if (BlobError.is(error)) return [handle, { problem: `${error.kind}: ${error.message}` }]
      if (limit.signal.aborted) return [handle, { problem: `timeout: no answer within ${timeoutMs} ms` }]
      throw error
    }
  }

  const handles = [...new Set(parsed.mentions.map(({ handle }) => handle))]
  const found = new Map(await Promise.all(handles.map(resolve)))
  const facets = [...parsed.facets]
  const mentions: ParsedFacets['mentions'][number][] = []
  for (const { handle, index } of parsed.mentions) {
    const resolved = found.get(handle)
    if (resolved !== undefined && 'did' in resolved) {
      facets.push({ index, features: [{ $type: 'app.bsky.richtext.facet#mention', did: resolved.did }] })
    } else mentions.push({ handle, index, ...(resolved !== undefined && { problem: resolved.problem }) })
  }
  facets.sort((a, b) => a.index.byteStart - b.index.byteStart)
  return { facets, mentions, omitted: parsed.omitted }
}
