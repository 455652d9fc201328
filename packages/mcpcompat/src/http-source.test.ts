import { expect, test } from 'vitest'
import { createSourceGuard, loopbackHosts } from './http-source.ts'

const guard = createSourceGuard({
  allowedOrigins: ['http://localhost:3000', 'https://App.example.com/', 'vscode-webview://x'],
  allowedHosts: loopbackHosts,
})

test.each<[string | undefined, string | undefined, boolean, string]>([
  [undefined, undefined, true, 'no browser'],
  ['http://localhost:3000', 'localhost:8420', true, 'a page of the list'],
  ['https://app.example.com', undefined, true, 'case and slash of the list do not count'],
  ['vscode-webview://x', undefined, true, 'another scheme'],
  ['http://localhost:3001', undefined, false, 'MH-EP-03: another port'],
  ['http://localhost', undefined, false, 'MH-EP-03: no port'],
  ['https://localhost:3000', undefined, false, 'MH-EP-03: another scheme'],
  ['http://localhost:3000.evil.example', undefined, false, 'MH-EP-03: a longer name'],
  ['http://localhost:3000/', undefined, false, 'MH-EP-03: no origin has a path'],
  ['null', undefined, false, 'MH-EP-03: an opaque origin'],
  [' http://localhost:3000\t', ' localhost ', true, 'MH-HDR-09: blanks around a field'],
  [' null ', undefined, false, 'MH-EP-03: an opaque origin with blanks'],
  ['\u00a0http://localhost:3000', undefined, false, 'no blank that a field may have around it'],
  [undefined, '\u00a0localhost', false, 'no blank that a field may have around it'],
  ['', undefined, false, 'MH-EP-03: empty'],
  ['not a url', undefined, false, 'MH-EP-03: it does not parse'],
  ['http://localhost:3000, http://evil.example', undefined, false, 'A-53: sent twice'],
  [undefined, '127.0.0.1:8420', true, 'loopback'],
  [undefined, '[::1]:8420', true, 'loopback'],
  [undefined, 'LOCALHOST', true, 'loopback'],
  [undefined, 'evil.example:8420', false, 'MH-EP-02: a name that was made to lead here'],
  [undefined, 'localhost.evil.example', false, 'a longer name'],
  [undefined, '127.0.0.2', false, 'another address'],
  ['http://localhost:3000', 'evil.example', false, 'both are looked at'],
])('MH-EP-02: Origin %j and Host %j are allowed: %s (%s)', (origin, host, allowed) => {
  expect(guard.fault(origin, host) === undefined).toBe(allowed)
  // the second time from memory
  expect(guard.fault(origin, host) === undefined).toBe(allowed)
})

test('without a list of hosts any is allowed', () => {
  expect(createSourceGuard({ allowedOrigins: [] }).fault(undefined, 'anything')).toBeUndefined()
})

test('null is not allowed, though somebody listed it', () => {
  expect(createSourceGuard({ allowedOrigins: ['null'] }).fault('null', undefined)).toBeDefined()
})

test('any number of distinct values is judged right', () => {
  for (let index = 0; index < 1000; index++) expect(guard.fault(`http://${index}.example`, undefined)).toBeDefined()
  expect(guard.fault('http://localhost:3000', 'localhost')).toBeUndefined()
})
