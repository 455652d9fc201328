// for authors of transports and proxies
export type { Connection, Inbound, SendOptions } from './contract/connection.ts'
export { safeDiagnostics } from './contract/diagnostics.ts'
export type { PeerAskOptions, PeerSession, PeerSessionListener } from './contract/peer-session.ts'
export type { CreateScopeOptions, OwnedScope } from './contract/scope.ts'
export { createScope } from './contract/scope.ts'
export type { LinkSignalsOptions, LinkedSignal } from './contract/signals.ts'
export { linkSignals } from './contract/signals.ts'
export type { Channel, ChannelOptions } from './contract/streams.ts'
export { channel } from './contract/streams.ts'
export type {
  AnswerContext,
  DecodeFailure,
  Decoded,
  DecodedCall,
  DecodedContext,
  RequestContext,
  WireCodec,
} from './contract/wire.ts'
export type { CreateMemoryPairOptions } from './duplex/memory.ts'
export { createMemoryPair } from './duplex/memory.ts'
export { answeredId, edgeLength } from './jsonrpc/damaged.ts'
export { encodeMessage } from './jsonrpc/encode.ts'
export { addMembers, omitMembers, replaceMember } from './jsonrpc/edit.ts'
export type { MemberSpan } from './jsonrpc/scan.ts'
export { scanElements } from './jsonrpc/scan.ts'
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

// serving and calling over a carrier
export { busyError, retryAfterOf } from './contract/busy.ts'
export type { CallHost, CreateCallContextOptions } from './contract/call-context.ts'
export { ServedContext, createCallContext } from './contract/call-context.ts'
export type { CallRunnerOptions } from './contract/call-runner.ts'
export { CallRunner } from './contract/call-runner.ts'
export type { CreateCallerContextOptions } from './contract/caller-context.ts'
export { createCallerContext } from './contract/caller-context.ts'
export { abortable } from './contract/abortable.ts'
export type { Clock } from './contract/clock.ts'
export { maxTimerMs, systemClock } from './contract/clock.ts'
export { toRpcError } from './contract/failure.ts'
export type { ChangeFeedOptions } from './contract/change-feed.ts'
export { ChangeFeed } from './contract/change-feed.ts'
export { DelegatedContext } from './contract/delegated-context.ts'
export { withDiscovery } from './contract/discovering.ts'
export { reportFailure } from './contract/failure.ts'
export { IdTable } from './contract/id-table.ts'
export { createIds } from './contract/ids.ts'
export { isOutcome } from './contract/outcome.ts'
export { viewerOf } from './contract/viewer-of.ts'
export { undeclaredAsk } from './contract/undeclared-ask.ts'
export { within } from './contract/within.ts'
export type { Resolvers } from './contract/with-resolvers.ts'
export { withResolvers } from './contract/with-resolvers.ts'
export type { ClientPeer, PeerPort } from './contract/peer-port.ts'
export { InvalidResultError } from './contract/invalid-result.ts'
export type { PeerViewParts } from './contract/peer-view.ts'
export { peerView } from './contract/peer-view.ts'
export { PendingCall, closedConnection, deliver, lostCall } from './contract/pending-calls.ts'
export type { CreateModernClientOptions } from './duplex/call.ts'
export { createModernClient } from './duplex/call.ts'
export type { ClientConnection, ServerEra, ServerIdentity } from './duplex/client-connection.ts'
export { legacyVerdictMs } from './duplex/client-connection.ts'
export type { ConnectDuplexOptions, Dial, DialOptions, DialPurpose } from './duplex/connect.ts'
export { connectDuplex } from './duplex/connect.ts'
export type { ServeConnectionOptions } from './duplex/serve.ts'
export { serveConnection } from './duplex/serve.ts'
export type { LegacyFeatures } from './rev-2025-06-18/features.ts'
export { featuresOf } from './rev-2025-06-18/features.ts'
export type { InitializedServer } from './rev-2025-06-18/client-handshake.ts'
export type { CreateClientSessionOptions, LegacyClient } from './rev-2025-06-18/client-session.ts'
export { createClientSession } from './rev-2025-06-18/client-session.ts'
export type { CreateLegacyCodecOptions } from './rev-2025-06-18/codec.ts'
export { createLegacyCodec } from './rev-2025-06-18/codec.ts'
export type { CreateServerSessionOptions, MessageOrigin, ServerSession } from './rev-2025-06-18/session.ts'
export { createServerSession } from './rev-2025-06-18/session.ts'
export type { CreateModernCodecOptions } from './rev-2026-07-28/codec.ts'
export { createModernCodec } from './rev-2026-07-28/codec.ts'

// the protocol as pure functions
export {
  cacheHintDefects,
  cacheHintsOf,
  invalidates,
  isStorable,
} from './cache-hints.ts'
export { annotationsFault } from './annotations.ts'
export type { ErrorPath, FailedCall } from './bridge.ts'
export {
  clientCapabilitiesForLegacy,
  clientCapabilitiesForModern,
  errorForCaller,
  errorForLegacy,
  errorForModern,
  isNotFound,
  resultForLegacy,
  resultForModern,
  serverCapabilitiesForLegacy,
  serverCapabilitiesForModern,
  statusOfError,
  toolForLegacy,
  toolForModern,
  translateError,
} from './bridge.ts'
export type { DuplexState, DuplexVerdict } from './classify.ts'
export { claimsModern, classifyDuplex, modernRequestFault } from './classify.ts'
export type { Discovered, ParsedDiscoverResult } from './discover.ts'
export { discoverResult, hasModernMarker, parseDiscoverResult } from './discover.ts'
export {
  HeaderValueError,
  decodeHeaderValue,
  encodeHeaderValue,
  headerName,
  maxHeaderLength,
  standardHeaderFault,
  standardHeaders,
} from './headers.ts'
export type {
  HttpDispatch,
  HttpHead,
  HttpLadder,
  HttpLadderPolicy,
  HttpRefusal,
  HttpVerdict,
  SessionLookup,
  SessionRequest,
} from './http-ladder.ts'
export { createHttpLadder } from './http-ladder.ts'
export { loopbackHosts } from './http-source.ts'
export { iconFault } from './icons.ts'
export { askingMethods, inputRequestFault, missingCapability, missingForInput } from './input-requests.ts'
export { checkEnvelope, claimOf, metaKey, metaOf, stripEnvelopeMeta, stripReservedMeta } from './meta.ts'
export type { ParsedMetaKey } from './meta-keys.ts'
export { isExtensionId, parseMetaKey } from './meta-keys.ts'
export { memberOf } from './member.ts'
export { checkParams } from './method-params.ts'
export type { AnswerForms } from './media-types.ts'
export { acceptedForms, isJsonType, isSseType } from './media-types.ts'
export type {
  DuplexProbeContext,
  DuplexProbeEvent,
  HandshakeState,
  LateVerdict,
} from './negotiate-duplex.ts'
export { judgeDuplexProbe, judgeLateAnswer } from './negotiate-duplex.ts'
export type { HttpProbeAnswer, HttpProbeContext, HttpProbeFailure } from './negotiate-http.ts'
export { judgeHttpProbe } from './negotiate-http.ts'
export type { ProbeContext, ProbeVerdict } from './negotiate.ts'
export { isRecognisedModernError } from './negotiate.ts'
export type { NextPage, PageLimits, PageStep, PageWalk } from './pagination.ts'
export { createPageWalk, nextPage } from './pagination.ts'
export type { PlannedHeaders } from './param-headers.ts'
export { encodeHeaderArgument, headerAnnotation, paramHeaderFault, paramHeaders, planHeaders } from './param-headers.ts'
export { remembered } from './remembered.ts'
export { keepsSessions } from './revisions.ts'
export type { BuildRetryOptions, NextRound, ParseResultOptions, ParsedResult, RetryRefusal } from './results.ts'
export { buildRetry, nextRound, parseResult, resumeOf, retryParams, roundLimits } from './results.ts'
export { forEachSubschema } from './schema-positions.ts'
export { isSessionId } from './session-id.ts'
export type { SubscriptionFilter } from './subscriptions.ts'
export {
  acknowledgement,
  advertisedListChanges,
  filterAdmits,
  grantFilter,
  listenFilterFault,
  parseListenFilter,
} from './subscriptions.ts'
