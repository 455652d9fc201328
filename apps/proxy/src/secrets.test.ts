import { createRedactor } from '@atenea/cli'
import type { ServerTarget } from '@atenea/cli/config'
import { expect, test } from 'vitest'
import { addBackendSecrets } from './secrets.ts'
import type { BackendSetting } from './settings.ts'

function redactorFor(target: ServerTarget): ReturnType<typeof createRedactor> {
  const redactor = createRedactor()
  addBackendSecrets({ target } as BackendSetting, redactor)
  return redactor
}

const hidden = /hunter22/

test.each<[string, ServerTarget]>([
  ['the environment', { kind: 'command', command: 'x', args: [], env: { API_TOKEN: 'hunter22' }, cwd: undefined }],
  ['an argument', { kind: 'command', command: 'x', args: ['--api-key', 'hunter22'], env: {}, cwd: undefined }],
  ['an argument with =', { kind: 'command', command: 'x', args: ['--token=hunter22'], env: {}, cwd: undefined }],
  ['an argument of docker', { kind: 'command', command: 'x', args: ['-e', 'TOKEN=hunter22'], env: {}, cwd: undefined }],
  ['a header', { kind: 'http', url: 'https://a.example/', headers: { 'X-Anything': 'hunter22' } }],
  ['a token', { kind: 'http', url: 'https://a.example/', headers: { Authorization: 'Bearer hunter22' } }],
  ['the query', { kind: 'sse', url: 'https://a.example/?key=hunter22', headers: {} }],
  ['the user of a URL', { kind: 'http', url: 'https://hunter22:x@a.example/', headers: {} }],
  ['a password in a URL', { kind: 'http', url: 'https://u:hunter22@a.example/', headers: {} }],
])('F16: a secret in %s is not shown in any text, nor its hex, nor its beginning', (_where, target) => {
  const { redact } = redactorFor(target)
  expect(redact('the server said: hunter22!')).not.toMatch(hidden)
  expect(redact(Buffer.from('hunter22').toString('hex'))).toBe('[redacted]')
  expect(redact('cut off: hunter2')).not.toContain('hunter2')
})

test('what is no secret stays readable', () => {
  const { redact } = redactorFor({
    kind: 'command',
    command: 'x',
    args: ['--folder', 'documents', '--verbose'],
    env: { LANG: 'en_US.UTF-8', TOKEN: 'ab' },
    cwd: undefined,
  })
  expect(redact('documents en_US.UTF-8 --verbose ab')).toBe('documents en_US.UTF-8 --verbose ab')
})
