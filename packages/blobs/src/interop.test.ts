import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseDid } from './did.ts'
import { normalizeHandle } from './handle.ts'

/** What the AT Protocol publishes for implementations to agree on; its source and licence stand in the file. */
interface Vectors {
  readonly dids: Pair
  readonly handles: Pair
}

interface Pair {
  readonly valid: readonly string[]
  readonly invalid: readonly string[]
}

const file = new URL('../test/fixtures/atproto-interop.json', import.meta.url)
const { dids, handles } = JSON.parse(readFileSync(file, 'utf8')) as Vectors

test.each(dids.valid)('a DID by the public vectors: %j', (text) => {
  // It has the syntax of one, whether or not its method is among those that the protocol uses.
  expect(whyNot(text)).not.toMatch(/is not a DID$/)
})

test.each(dids.invalid)('no DID by the public vectors: %j', (text) => {
  expect(whyNot(text)).toMatch(/is not a DID$/)
})

test.each(handles.valid)('a handle by the public vectors: %j', (text) => {
  expect(normalizeHandle(text)).toBe(text.toLowerCase())
})

test.each(handles.invalid)('no handle by the public vectors: %j', (text) => {
  expect(normalizeHandle(text)).toBeUndefined()
})

function whyNot(text: string): string {
  try {
    parseDid(text)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
