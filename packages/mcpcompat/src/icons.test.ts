import { expect, test } from 'vitest'
import type { JsonValue } from './jsonrpc/json.ts'
import { iconFault } from './icons.ts'

test.each<[JsonValue, boolean, string]>([
  [{ src: 'https://example.com/i.png' }, true, 'https'],
  [{ src: 'data:image/png;base64,AA==', mimeType: 'image/png', sizes: ['48x48', 'any'], theme: 'dark' }, true, 'data'],
  [{ src: 'HTTPS://example.com/', 'x-1': 1, sizes: [] }, true, 'case of the scheme'],
  [{ src: 'http://example.com/i.png' }, false, 'http'],
  [{ src: 'javascript:alert(1)' }, false, 'a script'],
  [{ src: 'java\nscript:alert(1)' }, false, 'a script in disguise'],
  [{ src: 'file:///etc/passwd' }, false, 'a file'],
  [{ src: 'ftp://example.com/' }, false, 'ftp'],
  [{ src: 'ws://example.com/' }, false, 'ws'],
  [{ src: '/i.png' }, false, 'no scheme'],
  [{ src: '' }, false, 'empty'],
  [{}, false, 'no src'],
  [{ src: 5 }, false, 'no string'],
  [{ src: 'https://a/', mimeType: 5 }, false, 'mimeType'],
  [{ src: 'https://a/', sizes: '48x48' }, false, 'sizes'],
  [{ src: 'https://a/', sizes: [48] }, false, 'sizes'],
  [{ src: 'https://a/', theme: 'blue' }, false, 'theme'],
  [null, false, 'null'],
  ['https://a/', false, 'a string'],
  [[], false, 'an array'],
])('MC-ICON-02, MC-ICON-04: %j may be shown: %s (%s)', (icon, good) => {
  expect(iconFault(icon) === undefined).toBe(good)
})
