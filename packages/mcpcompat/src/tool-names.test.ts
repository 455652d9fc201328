import { expect, test } from 'vitest'
import { isConformingToolName } from './tool-names.ts'

test.each([
  ['getUser', true],
  ['admin.tools.list', true],
  ['a-b_c.D9', true],
  ['x'.repeat(128), true],
  ['x'.repeat(129), false],
  ['', false],
  ['get user', false],
  ['a\n', false],
  ['a/b', false],
  ['naïve', false],
  ['=?base64?QUJD?=', false],
  ['__proto__', true],
])('MC-TOOL-09: %j conforms: %s', (name, conforming) => {
  expect(isConformingToolName(name)).toBe(conforming)
})
