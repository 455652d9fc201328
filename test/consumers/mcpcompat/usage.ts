import { type JsonObject, RpcError, rpcCode } from '@atenea/mcpcompat'
import type { RpcMessage } from '@atenea/mcpcompat/transport'

const data: JsonObject = { hint: 'try again' }
const error = new RpcError(rpcCode.invalidParams, 'No such thing.', { data })
const message: RpcMessage | undefined = undefined
if (!RpcError.is(error) || message !== undefined) throw new Error('not recognised')
console.log('ok')
