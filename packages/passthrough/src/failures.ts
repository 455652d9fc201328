import { type Ask, type Call, JsonText, RpcError, rpcCode, toText, TransportError } from '@atenea/mcpcompat'
import {
  busyError,
  errorForCaller,
  HeaderValueError,
  InvalidResultError,
  retryAfterOf,
  toRpcError,
} from '@atenea/mcpcompat/transport'

/**
 * Why a call of a backend failed, as its caller may hear it (BR-308, decisions 7): the backend's own error where it answered with one, else
 * an internal error that names the backend and what is known of the outcome. Everything else stays what it is.
 */
export function failureForCaller(error: unknown, backend: string): unknown {
  if (RpcError.is(error)) {
    const { code, message, data } = error
    const own = data === undefined ? { code, message } : { code, message, data }
    const told = errorForCaller(own)
    return told === own ? error : withCause(toRpcError(told), error)
  }
  if (error instanceof HeaderValueError) {
    // a name, an address or an argument of the caller, of which nothing has left yet
    const message = `Backend ${quoted(backend)} cannot be asked for this over HTTP: ${error.message}`
    return new RpcError(rpcCode.invalidParams, message, { cause: error })
  }
  if (!TransportError.is(error)) return error
  const message = `Backend ${quoted(backend)} ${outage(error)}: ${error.message.slice(0, 500)}`
  return new RpcError(rpcCode.internalError, message, { cause: error })
}

function withCause(error: RpcError, cause: unknown): RpcError {
  error.cause = cause
  return error
}

function outage(error: TransportError): string {
  if (InvalidResultError.is(error)) return 'answered with what is no result of this method'
  switch (error.kind) {
    case 'closed':
      return 'is gone'
    case 'unreachable':
      return 'cannot be reached'
    case 'timeout':
      return 'did not answer in time'
    case 'auth':
      return 'refused the credentials of the proxy'
    case 'protocol':
      return 'cannot be spoken with'
    case 'unknown-outcome':
      return 'was lost before it answered, and the call is not repeated'
    case 'too-large':
      return 'answered with more than is taken'
  }
}

/** A backend of the other kind asks, and nobody has allowed that its questions cross: the caller gets the whole of it to read, as data. */
export function askNotBridged(ask: Ask, call: Call): RpcError {
  const message = `The server needs more input for ${call.method}, and this proxy does not put its questions to clients like this one`
  return new RpcError(rpcCode.internalError, message, { data: new JsonText(`{"inputRequired":${toText(ask.raw)}}`) })
}

/** The backend ended while a call of it waited for answers (BR-235). */
export function lostWhileParked(backend: string): RpcError {
  return new RpcError(
    rpcCode.internalError,
    `Backend ${quoted(backend)} was lost while its question was open, and the call with it; the call is not repeated`,
  )
}

export function busy(backend: string, what: string): RpcError {
  return busyError(`Backend ${quoted(backend)} is busy: ${what}`, busyMs)
}

export function isBusy(error: unknown): boolean {
  return RpcError.is(error) && retryAfterOf(error.data) !== undefined
}

/** When somebody may have left, in milliseconds. */
const busyMs = 5_000

export function waiting(backend: string, why: string | undefined, inMs: number): RpcError {
  const reason = why === undefined ? '' : `: ${why}`
  return new RpcError(
    rpcCode.internalError,
    `Backend ${quoted(backend)} is down${reason}; the next try is in ${Math.ceil(inMs / 100) / 10} s`,
  )
}

export function overdue(backend: string, afterMs: number): RpcError {
  return new RpcError(
    rpcCode.internalError,
    `Backend ${quoted(backend)} did not answer within ${afterMs} ms; the call was cancelled and may have been carried out`,
  )
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 80))
}
