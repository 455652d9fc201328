// for handler authors
export type { Ask, CacheHints, Call, Outcome, ParkedCall, ParkedEnd } from './contract/call.ts'
export type {
  AbortOptions,
  AbortWatcher,
  CallContext,
  LogLevel,
  Peer,
  Principal,
  Resume,
  Scope,
  WireHints,
} from './contract/context.ts'
export type { Diagnostic, OnDiagnostic } from './contract/diagnostics.ts'
export type {
  Dispatcher,
  HeaderDeclaration,
  HeaderPlan,
  Implementation,
  ServerView,
  Viewer,
} from './contract/dispatcher.ts'
export { method, notice } from './contract/methods.ts'
export { AteneaError, RpcError, TransportError, rpcCode } from './jsonrpc/errors.ts'
export type { RpcErrorOptions, TransportErrorKind, TransportErrorOptions } from './jsonrpc/errors.ts'
export type { Json, JsonObject, JsonRecord, JsonValue } from './jsonrpc/json.ts'
export { isJsonObject, toObject, toText, toValue } from './jsonrpc/json.ts'
export { JsonText } from './jsonrpc/json-text.ts'
export { canonicalize } from './jsonrpc/stringify.ts'
export type { RpcId } from './jsonrpc/message.ts'
export { isFresh, mergeHints, noCache } from './cache-hints.ts'
export { isLogLevel, levelAdmits, logLevels } from './log-levels.ts'
export type { Root } from './roots.ts'
export { fileUriOf, rootFault, rootsResult } from './roots.ts'
export { isConformingToolName } from './tool-names.ts'

// what may be used, and what a client may carry
export type { AllowList, CreateAllowListOptions } from './policy.ts'
export { createAllowList } from './policy.ts'
export type {
  CreateSealOptions,
  Seal,
  SealBinding,
  SealKey,
  SealOptions,
  UnsealFailure,
  UnsealResult,
  Unsealed,
} from './seal.ts'
export { createSeal } from './seal.ts'

// which revisions are spoken
export type {
  CreateRevisionPolicyOptions,
  Era,
  ParsedRevision,
  RevisionEvidence,
  RevisionOffer,
  RevisionPolicy,
} from './revisions.ts'
export {
  RevisionError,
  createRevisionPolicy,
  legacyRevision,
  modernRevision,
  parseLegacyRevisions,
  parseRevision,
  revisionsOf,
} from './revisions.ts'
