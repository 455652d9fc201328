import type { BlobClient, HttpClient } from '@atenea/blobs'
import type { OwnedWorkflows } from '@atenea/core'
import type { OnDiagnostic, Principal } from '@atenea/mcpcompat'
import type { AtprotoSettings } from './atproto-settings.ts'
import type { DownloadMeter } from './download-meter.ts'

/** What tools and resources need to reach accounts. */
export interface Atproto {
  readonly settings: AtprotoSettings
  readonly blobs: BlobClient
  readonly http: HttpClient
  readonly downloads: DownloadMeter
  /** Uploads that come in pieces, of one principal. */
  uploads(principal: Principal): OwnedWorkflows
}

/** Gives it, made on first use: a server that only computes reaches no network and loads nothing for it. */
export type AtprotoAccess = () => Promise<Atproto>

export function createAtprotoAccess(settings: AtprotoSettings, onDiagnostic: OnDiagnostic): AtprotoAccess {
  let made: Promise<Atproto> | undefined
  return () => {
    made ??= import('./create-atproto.ts').then(({ createAtproto }) => createAtproto(settings, onDiagnostic))
    return made
  }
}
