import { BlobError } from './blob-error.ts'

/** Connections that broke, or never came to be. */
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
])

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}

/** Whether the connection broke, as opposed to an answer that makes no sense or a certificate that is wrong. */
export function isBrokenConnection(error: Error): boolean {
  return networkCodes.has(codeOf(error))
}

/** Why no answer came. What the guard refused stays as it is. */
export function networkError(error: Error, url: URL): BlobError {
  if (BlobError.is(error)) return error
  const code = codeOf(error)
  const details = { source: url.origin, reason: code }
  if (code.startsWith('HPE_')) {
    return new BlobError('bad-answer', `${url.origin} does not speak HTTP (${code})`, { cause: error, details })
  }
  const message = `${url.origin} cannot be reached: ${code}`
  return new BlobError('unreachable', message, { cause: error, details, retryable: networkCodes.has(code) })
}
