import { expect, test } from 'vitest'
import { isSessionId } from './session-id.ts'

test.each([
  ['!', true, 'the first visible character'],
  ['~', true, 'the last one'],
  ['eyJhbGciOiJIUzI1NiJ9.e30.Xmwm-_', true, 'a token'],
  ['', false, 'empty'],
  [' ', false, 'blank'],
  ['a b', false, 'blank inside'],
  ['a\t', false, 'tab'],
  ['a\n', false, 'line end'],
  ['\u007f', false, 'DEL'],
  ['\u0000', false, 'NUL'],
  ['é', false, 'not ASCII'],
])('LG-SESS-02: %j is a session id: %s (%s)', (value, valid) => {
  expect(isSessionId(value)).toBe(valid)
})
