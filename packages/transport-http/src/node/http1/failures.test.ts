import { expect, test } from 'vitest'
import { HangUp, HttpFault } from './fault.ts'
import { noAnswer } from './failures.ts'

const url = 'https://user:secret@example.com/mcp?key=secret'

test.each([
  ['ECONNREFUSED', 'running'],
  ['ENOTFOUND', 'name cannot be resolved'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'NODE_EXTRA_CA_CERTS'],
  ['CERT_HAS_EXPIRED', 'not valid now'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'for another name'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'begins with http:'],
  ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'TLS could not be agreed upon'],
  ['EPROTO', 'TLS could not be agreed upon'],
  ['ETIMEDOUT', 'Try again later'],
])('a server that cannot be reached because of %s: what to do about it', (code, advice) => {
  const cause = Object.assign(new Error('x'), { code })
  const error = noAnswer(cause, url, false, false)
  expect(error).toMatchObject({ kind: 'unreachable', retryable: true, cause })
  expect(error.message).toContain(`(${code}). `)
  expect(error.message).toContain(advice)
  expect(error.message).not.toContain('secret')
})

test('F11: what was sent and not answered may have been carried out, unless it changes nothing', () => {
  expect(noAnswer(new HangUp('x'), url, true, false)).toMatchObject({
    kind: 'unknown-outcome',
    retryable: false,
    message: expect.stringContaining('may have been carried out') as string,
  })
  expect(noAnswer(new HttpFault('odd'), url, true, true)).toMatchObject({
    kind: 'unknown-outcome',
    retryable: true,
    message: expect.stringMatching(/no HTTP: odd\.$/) as string,
  })
})
