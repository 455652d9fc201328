import type { ContentsEntry, ResourceDefinition } from '@atenea/core'
import { type AbortOptions, RpcError, rpcCode } from '@atenea/mcpcompat'
import type { ResourceSetting } from './settings.ts'

/** Largest file that is read whole: as base64 it still fits into the messages that common clients accept. */
const maxResourceBytes = 7_000_000

/** A resource that the operator names, for the core. */
export function staticResource({ text, file, ...entry }: ResourceSetting): ResourceDefinition {
  return {
    ...entry,
    read: (_request, { signal }) =>
      file === undefined ? (text ?? '') : readFileResource(file, entry.mimeType, { signal }),
  }
}

/** The file as text where it is text, else as bytes. Its path stays here: errors tell what is wrong and not where it lies. */
async function readFileResource(
  file: string,
  mimeType: string | undefined,
  { signal }: AbortOptions,
): Promise<ContentsEntry> {
  const { constants } = process.getBuiltinModule('node:fs')
  const { open } = process.getBuiltinModule('node:fs/promises')
  // a pipe must not keep a thread waiting, of which there are four
  await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw unreadable(cause)
  })
  const found = await handle.stat()
  if (!found.isFile()) throw unreadable(new Error(`${file} is no regular file`))
  const { size } = found
  if (size > maxResourceBytes) {
    throw new RpcError(rpcCode.internalError, 'This resource is too large to be read', {
      data: { size, limit: maxResourceBytes },
    })
  }
  const bytes = await handle.readFile({ signal })
  return isText(bytes, mimeType) ? { text: bytes.toString('utf8') } : { blob: bytes }
}

function unreadable(cause: unknown): RpcError {
  return new RpcError(rpcCode.internalError, 'The file of this resource cannot be read', { cause })
}

function isText(bytes: Buffer, mimeType: string | undefined): boolean {
  const { isUtf8 } = process.getBuiltinModule('node:buffer')
  if (!isUtf8(bytes)) return false
  return mimeType === undefined
    ? !bytes.includes(0)
    : /^(?:text\/|application\/(?:.*[+.])?(?:json|xml|yaml|javascript)\b)/i.test(mimeType)
}
