// for authors of transports and proxies
export type { Connection, Inbound, SendOptions } from './contract/connection.ts'
export type { LinkedSignal } from './contract/signals.ts'
export type {
  AnswerContext,
  DecodeFailure,
  Decoded,
  DecodedCall,
  DecodedContext,
  RequestContext,
  WireCodec,
} from './contract/wire.ts'
export { encodeMessage } from './jsonrpc/encode.ts'
export type { MemberSpan } from './jsonrpc/scan.ts'
export { parseMessage } from './jsonrpc/parse.ts'
export type {
  RpcErrorObject,
  RpcFailure,
  RpcMessage,
  RpcNotification,
  RpcReject,
  RpcRequest,
  RpcResponse,
  RpcResult,
} from './jsonrpc/message.ts'
