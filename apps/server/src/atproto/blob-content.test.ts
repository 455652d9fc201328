import { expect, test } from 'vitest'
import { blobContent, linkedType } from './blob-content.ts'

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const jpeg = Buffer.from('ffd8ffe000104a464946', 'hex')
const gif = Buffer.from('GIF89a\x01\x00\x01\x00', 'latin1')
const webp = Buffer.from('RIFF\x24\x00\x00\x00WEBPVP8 ', 'latin1')
const html = Buffer.from('<!doctype html><script>alert(1)</script>')
const octets = { kind: 'bytes', mimeType: 'application/octet-stream' }

test.each([
  ['image/png', png, 'image/png'],
  ['image/jpeg', jpeg, 'image/jpeg'],
  ['image/jpg', jpeg, 'image/jpeg'],
  ['IMAGE/GIF', gif, 'image/gif'],
  ['image/webp; x=y', webp, 'image/webp'],
  ['application/octet-stream', png, 'image/png'],
  ['*/*', png, 'image/png'],
  [undefined, jpeg, 'image/jpeg'],
])('%s with the first bytes of it is an image', (claimed, bytes, mimeType) => {
  expect(blobContent(bytes, claimed)).toEqual({ kind: 'image', mimeType })
})

test.each([
  ['image/png', html, 'a label alone makes no image'],
  ['image/png', jpeg, 'nor one that disagrees'],
  ['image/png', png.subarray(0, 7), 'nor half of a beginning'],
  ['image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'SVG can run scripts'],
  ['text/html', html, 'HTML can'],
  ['text/html', png, 'whatever it begins with'],
  ['application/xhtml+xml', html, 'and its relatives'],
  ['text/xml', html, ''],
  ['text/javascript', Buffer.from('alert(1)'), ''],
  ['text/css', Buffer.from('a{}'), ''],
  ['text/plain', Buffer.from([0x61, 0xff]), 'text that is no UTF-8'],
  ['text/plain', Buffer.from([0x61, 0]), 'or holds NUL'],
  ['text/plain; charset=utf-16', Buffer.from('ab'), 'or says that it is something else'],
  ['video/mp4', Buffer.from('....ftyp'), 'no place of its own'],
  [undefined, Buffer.from('hello'), 'nobody calls it text'],
  [undefined, Buffer.alloc(0), 'nothing at all'],
])('F2, G10: %s is bytes without a name (%#)', (claimed, bytes, _why) => {
  expect(blobContent(bytes, claimed)).toEqual(octets)
})

test.each([
  ['text/plain', 'text/plain'],
  ['text/markdown', 'text/markdown'],
  ['text/vtt; charset=UTF-8', 'text/vtt'],
  ['text/x-unknown', 'text/plain'],
])('%s that is UTF-8 is text', (claimed, mimeType) => {
  expect(blobContent(Buffer.from('é😀\u2028'), claimed)).toEqual({ kind: 'text', mimeType, text: 'é😀\u2028' })
})

test('a link names no type that a browser would run', () => {
  const types = ['image/png', 'video/mp4', 'text/plain', 'image/svg+xml', 'text/html', 'application/pdf', undefined]
  expect(types.map(linkedType)).toEqual([
    'image/png',
    'video/mp4',
    'text/plain',
    ...Array<string>(4).fill('application/octet-stream'),
  ])
})
