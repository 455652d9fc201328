import { isAtUriString } from '@atproto/syntax'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseRecordUri } from './at-uri.ts'

describe('AT-URIs of records', () => {
  test.each([
    ['at://did:plc:asdf123/com.atproto.feed.post/record', 'did:plc:asdf123', 'com.atproto.feed.post', 'record'],
    [
      'at://user.bsky.social/app.bsky.feed.post/3k2la7fxx2s2q',
      'user.bsky.social',
      'app.bsky.feed.post',
      '3k2la7fxx2s2q',
    ],
    ['at://did:web:localhost%3A3000/a.b.cd/self', 'did:web:localhost%3A3000', 'a.b.cd', 'self'],
    ['at://a.b/a.b.c/a:b~c_d.e-f', 'a.b', 'a.b.c', 'a:b~c_d.e-f'],
  ])('%s', (uri, authority, collection, rkey) => {
    expect(parseRecordUri(uri)).toEqual({ authority, collection, rkey })
    expect(isAtUriString(uri)).toBe(true)
  })

  test.each([
    'at://did:plc:asdf123',
    'at://did:plc:asdf123/com.atproto.feed.post',
    'at://did:plc:asdf123/com.atproto.feed.post/',
    'at://did:plc:asdf123/com.atproto.feed.post/record/',
    'at://did:plc:asdf123/com.atproto.feed.post/record#frag',
    'at://did:plc:asdf123/com.atproto.feed.post/record?x=y',
    'at://did:plc:asdf123/com.atproto.feed.post/.',
    'at://did:plc:asdf123/com.atproto.feed.post/..',
    'at://did:plc:asdf123/com.atproto.feed.post/a b',
    'at://did:plc:asdf123/com.atproto.feed.post/%2F',
    'at://did:plc:asdf123/notannsid/record',
    'at://user:pass@example.com/a.b.c/x',
    'at://localhost/a.b.c/x',
    'at://127.0.0.1/a.b.c/x',
    'AT://did:plc:asdf123/a.b.c/x',
    ' at://did:plc:asdf123/a.b.c/x',
    'at:/did:plc:asdf123/a.b.c/x',
    'https://example.com/a.b.c/x',
    '',
  ])('%s is none', (uri) => {
    expect(parseRecordUri(uri)).toBeUndefined()
  })

  test('what is read is an AT-URI for the official implementation too', () => {
    const part = fc.stringMatching(/^[a-z0-9.:_~%-]{0,12}$/)
    fc.assert(
      fc.property(
        fc.oneof(part, fc.constant('did:plc:abc'), fc.constant('a.test')),
        fc.oneof(part, fc.constant('a.b.c')),
        part,
        (a, c, r) => {
          const uri = `at://${a}/${c}/${r}`
          expect(parseRecordUri(uri) === undefined || isAtUriString(uri)).toBe(true)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
