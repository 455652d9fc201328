import { TransportError } from '@atenea/mcpcompat'
import { safeUrl } from '../../safe-url.ts'
import { ConnectTimeout } from './connection.ts'
import { HttpFault } from './fault.ts'
import { TunnelRefused } from './tunnel-refused.ts'

/** The error for a request that got no answer. `wrote`: whether anything of it may have reached the server. */
export function noAnswer(error: Error, url: string, wrote: boolean, repeatable: boolean): TransportError {
  const name = safeUrl(url)
  if (wrote) {
    const what =
      error instanceof HttpFault
        ? `${name} answered with what is no HTTP: ${error.message}`
        : `${name} closed the connection without an answer${codeText(error)}`
    const text = repeatable ? `${what}.` : `${what}; the call may have been carried out.`
    return new TransportError('unknown-outcome', text, { cause: error, retryable: repeatable })
  }
  const text =
    error instanceof ConnectTimeout || error instanceof TunnelRefused
      ? `${name} cannot be reached: ${error.message}.`
      : `${name} cannot be reached${codeText(error)}. ${adviceFor(error)}`
  return new TransportError('unreachable', text, { cause: error, retryable: true })
}

export function compressed(url: string, coding: string): TransportError {
  const text = `${safeUrl(url)} answered with compressed bytes (${coding.slice(0, 40)}), though it was asked for plain ones. Switch that off in the server, or in what stands before it.`
  return new TransportError('protocol', text)
}

function adviceFor(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === 'ECONNREFUSED') return 'Is the server running, and on that port?'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'Its name cannot be resolved.'
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO')
    return 'TLS could not be agreed upon; if it speaks none, its URL begins with http:.'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'Its certificate is for another name.'
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') return 'Its certificate is not valid now.'
  if (/CERT|SIGNED|SIGNATURE|ISSUER/.test(code))
    return 'Its certificate is not trusted; NODE_EXTRA_CA_CERTS names further authorities.'
  return 'Try again later.'
}

/** Whether the peer closed a connection, as far as the system tells. */
export function isReset(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

/** The code of an error of the system, in brackets, for a message. */
export function codeText(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return code === undefined ? '' : ` (${code})`
}
