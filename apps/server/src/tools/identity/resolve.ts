import type { AbortOptions, JsonObject } from '@atenea/mcpcompat'
import type { Atproto } from '../../atproto/atproto.ts'
import { tellingFailures } from '../../atproto/tool-failure.ts'
import type { ResolvedIdentity } from '../resolve-identity.ts'

/** The DID of a handle that is confirmed in both directions. */
export async function didOfHandle(
  { blobs }: Atproto,
  text: string,
  { signal }: AbortOptions,
): Promise<{ readonly handle: string; readonly did: string }> {
  return await tellingFailures(async () => {
    const { did, handle } = await blobs.identity.resolve(handleText(text), { signal })
    return { did, handle: handle ?? text }
  })
}

/** All that is known of an account. */
export async function identityOf(
  { blobs }: Atproto,
  identifier: string,
  { signal }: AbortOptions,
): Promise<ResolvedIdentity> {
  return await tellingFailures(async () => {
    const found = await blobs.identity.resolve(
      identifier.startsWith('did:') ? identifier : identifier.replace(/^@/, ''),
      { signal },
    )
    const { did, handle, handleFault, pds, pdsFault, document } = found
    return {
      did,
      ...(handle !== undefined && { handle }),
      ...(handleFault !== undefined && { handleProblem: `${handleFault.kind}: ${handleFault.message}` }),
      ...(pds !== undefined && { pds }),
      ...(pdsFault !== undefined && { pdsProblem: `${pdsFault.kind}: ${pdsFault.message}` }),
      document: document as JsonObject,
    }
  })
}

/** A DID is no handle, though the resolver would take one. */
function handleText(text: string): string {
  return text.startsWith('did:') ? `@${text}` : text.replace(/^@/, '')
}
