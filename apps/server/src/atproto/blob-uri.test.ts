import { expect, test } from 'vitest'
import { blobUri, parseBlobUri } from './blob-uri.ts'

const cid = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'

test.each([
  ['did:plc:aliceaaaaaaaaaaaaaaaaaaa', 'did:plc:aliceaaaaaaaaaaaaaaaaaaa'],
  ['did%3Aplc%3Aaliceaaaaaaaaaaaaaaaaaaa', 'did:plc:aliceaaaaaaaaaaaaaaaaaaa'],
  ['did%3aweb%3aexample.com', 'did:web:example.com'],
  // Its own percent sign stays where the colons are literal, and is encoded twice where they are not.
  ['did:web:localhost%3A3000', 'did:web:localhost%3A3000'],
  ['did%3Aweb%3Alocalhost%253A3000', 'did:web:localhost%3A3000'],
])('%s names %s', (segment, did) => {
  expect(parseBlobUri(`atenea-blob:///${segment}/${cid}`)).toEqual({ did, cid })
})

test.each([
  `atenea-blob://host/did:plc:a/${cid}`,
  `atenea-blob:///did:plc:a`,
  `atenea-blob:///did:plc:a/${cid}/more`,
  `atenea-blob:///did:plc:a/${cid}?x`,
  `atenea-blob:///did:plc:a/${cid}#x`,
  `atenea-blob:////${cid}`,
  `atenea-blob:///%E0%A4%A/${cid}`,
  `at://did:plc:a/${cid}`,
])('%s names nothing', (uri) => {
  expect(parseBlobUri(uri)).toBeUndefined()
})

test('what it writes is a URL and reads back', () => {
  const uri = blobUri('did:web:localhost%3A3000', cid)
  expect(new URL(uri).href).toBe(uri)
  expect(parseBlobUri(uri)).toEqual({ did: 'did:web:localhost%3A3000', cid })
})
