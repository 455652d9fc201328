import { expect, test } from 'vitest'
import { RpcError } from '../jsonrpc/errors.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import { createRevisionPolicy, legacyRevision } from '../revisions.ts'
import { readInitialize } from './handshake.ts'

const policy = createRevisionPolicy()

function said(name: string): { protocolVersion: string; capabilities: object; clientInfo: object } {
  return { protocolVersion: legacyRevision, capabilities: { roots: {} }, clientInfo: { name, version: '1' } }
}

test('clients that say the same share what was read, others do not, and what a client says later changes nothing', () => {
  const first = said('a')
  const handshake = readInitialize(first as never, policy)
  expect(readInitialize(said('a') as never, policy)).toBe(handshake)
  expect(readInitialize(new JsonText(JSON.stringify(said('a'))), policy)).toBe(handshake)
  first.clientInfo = { name: 'b', version: '1' }
  expect(handshake.peer).toMatchObject({ name: 'a', capabilities: { roots: {} } })
  expect(readInitialize(first as never, policy).peer.name).toBe('b')
  expect(readInitialize(said('a') as never, createRevisionPolicy())).not.toBe(handshake)
})

test('a handshake that is longer than usual is read all the same, and one that is malformed is refused each time', () => {
  const long = said('x'.repeat(3_000))
  expect(readInitialize(long as never, policy).peer.name).toBe('x'.repeat(3_000))
  for (const _ of [1, 2]) {
    expect(() => readInitialize({ ...said('a'), capabilities: [] } as never, policy)).toThrow(RpcError)
  }
})
