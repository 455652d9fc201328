import * as legacy from './rev-2025-06-18/schemas.ts'
import * as modern from './rev-2026-07-28/schemas.ts'

/**
 * zod schemas for every type of the specification, one set for each built-in revision, named as the specification names the
 * type: `modern.callToolResultSchema` and, as a type, `modern.CallToolResult`. Unknown members are kept everywhere, as the
 * specification demands of a receiver. They are for users and tests; the library itself checks by hand.
 */
export { legacy, modern }
