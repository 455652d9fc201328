import { rpcCode } from '../packages/mcpcompat/src/index.ts'
import { expect, test } from 'vitest'

test('MC-ERR-01, MC-ERR-04: the error numbers on the wire are these and no others', () => {
  expect(rpcCode).toEqual({
    parseError: -32700,
    invalidRequest: -32600,
    methodNotFound: -32601,
    invalidParams: -32602,
    internalError: -32603,
    resourceNotFound: -32002,
    headerMismatch: -32020,
    missingClientCapability: -32021,
    unsupportedVersion: -32022,
  })
})
