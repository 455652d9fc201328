// names of blobs, and bytes that are checked against them
export { BlobId, parseBlobId, UnsupportedCidError } from './blob-id.ts'
export type { UnsupportedCidReason } from './blob-id.ts'
export { computeBlobId, createBlobHash, verifyBlob } from './hash-stream.ts'
export type { AbortOptions } from './abort.ts'
export type { BlobHash, BlobSize } from './hash-stream.ts'
export type { BlobSource, ReadOptions } from './read-chunks.ts'

// keeping them
export { createFsStore } from './fs-store.ts'
export type { CreateFsStoreOptions } from './fs-store.ts'
export type { FileSystem } from './fs-port.ts'
export { createMemoryStore } from './memory-store.ts'
export type { CreateMemoryStoreOptions } from './memory-store.ts'
export type { BlobInfo, BlobStore, BytesOptions, OpenBlob, PutOptions, RangeOptions } from './store.ts'

// what goes wrong
export { BlobError } from './blob-error.ts'
export type { BlobErrorDetails, BlobErrorKind, BlobErrorOptions } from './blob-error.ts'
export type { BlobDiagnostic, OnBlobDiagnostic } from './diagnostics.ts'

// blobs of accounts
export { createBlobClient } from './blob-client.ts'
export type { BlobClient, CreateBlobClientOptions, GetOptions } from './blob-client.ts'
export type { AccountBlob, OnProgress } from './account-blobs.ts'
export type { OfferedBlob } from './pds.ts'
export type { OwnUploadsPolicy } from './own-uploads.ts'
export type { PasswordAccount, TokenAccount, TokenRequest, UploadAccount } from './session.ts'
export type { Upload, UploadedBlob, UploadOptions } from './uploader.ts'
export type { Identity, IdentityResolver } from './identity.ts'
export { blobResponseHeaders } from './response-headers.ts'

// which hosts may be spoken to, and speaking to them
export { createEndpointGuard } from './endpoint-guard.ts'
export type {
  CreateEndpointGuardOptions,
  EndpointGuard,
  EndpointRefusal,
  ResolvedAddress,
} from './endpoint-guard.ts'
export { isPublicAddress } from './public-address.ts'
export { createHttpClient } from './http-client.ts'
export type { CreateHttpClientOptions, HttpClient, HttpRequest, HttpResponse } from './http-client.ts'
export type { HttpBody } from './http-body.ts'
export type { ResolveTxt } from './handle-dns.ts'
export { answerError, readJson, xrpcUrl } from './xrpc.ts'
export type { JsonRecord } from './xrpc.ts'
