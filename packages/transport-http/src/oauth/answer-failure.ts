import { TransportError } from '@atenea/mcpcompat'
import { OAuthError, type OAuthErrorCode } from './oauth-error.ts'

/**
 * A failure of a request to the authorization server, in words that hold nothing secret: its error code and its description, or that the
 * answer breaks the protocol. What the library threw is not its cause, since that can hold the answer with its tokens. `secrets` are those
 * of the request, which some repeat in their description.
 */
export function answerFailure(
  error: unknown,
  what: string,
  { refused = 'refused', secrets = [] }: AnswerFailureOptions = {},
): unknown {
  if (TransportError.is(error)) return error
  if (!(error instanceof Error)) return error
  const clean = (text: string, length: number): string => oneLine(withoutSecrets(text, secrets), length)
  const reason = 'error' in error && typeof error.error === 'string' ? clean(error.error, 80) : undefined
  if (reason !== undefined) {
    const text =
      'error_description' in error && typeof error.error_description === 'string' ? error.error_description : ''
    const description = text === '' ? '' : `: ${clean(text, 300)}`
    return new OAuthError(refused, `${what} (${reason})${description}.`, { reason })
  }
  if (error.name === 'TypeError' || error.name === 'SyntaxError') return error
  return new OAuthError('invalid-response', `${what}: ${clean(error.message, 300)}.`)
}

export interface AnswerFailureOptions {
  /** The code of the error when the authorization server says that it refuses. */
  readonly refused?: OAuthErrorCode | undefined
  readonly secrets?: readonly string[] | undefined
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}

/** Text of somebody else for a message: one line, bounded. */
function oneLine(text: string, length: number): string {
  return text
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, length)
    .replace(/\.$/, '')
}
