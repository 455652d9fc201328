import { RpcError, rpcCode } from '@atenea/mcpcompat'

if (!RpcError.is(new RpcError(rpcCode.invalidParams, 'No.'))) throw new Error('not recognised')
console.log('ok')
