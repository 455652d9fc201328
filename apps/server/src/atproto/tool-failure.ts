import { BlobError, type BlobErrorKind } from '@atenea/blobs'
import { ToolError } from '@atenea/core'
import { FileRootError } from './file-roots.ts'

/** What a caller can do about it, where that does not follow from the message. */
const advice: { readonly [K in BlobErrorKind]?: string } = {
  'rate-limited': 'Wait before you try again.',
  unreachable: 'It may be down; try again later.',
  timeout: 'It may be slow; try again later.',
  upstream: 'Try again later.',
  'no-space': 'The operator of this server must make room.',
}

/** What a failure of the network, a store or a file argument becomes for the model. Everything else is passed on as it is. */
function toolFailure(error: unknown): unknown {
  if (error instanceof FileRootError) return new ToolError(error.message, { cause: error })
  if (!BlobError.is(error)) return error
  const more = advice[error.kind]
  return new ToolError(`${error.kind}: ${error.message}${more === undefined ? '' : ` ${more}`}`, { cause: error })
}

/** Runs work whose failures the model should read. */
export async function tellingFailures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toolFailure(error)
  }
}
