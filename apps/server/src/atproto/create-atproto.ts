import { createBlobClient, createEndpointGuard, createFsStore, createHttpClient } from '@atenea/blobs'
import { createWorkflows } from '@atenea/core'
import { createSqliteStore } from '@atenea/core/sqlite'
import type { OnDiagnostic } from '@atenea/mcpcompat'
import { join } from 'node:path'
import type { Atproto } from './atproto.ts'
import type { AccountSetting, AtprotoSettings } from './atproto-settings.ts'
import { createDownloadMeter } from './download-meter.ts'

/** Milliseconds after its last piece for which an upload waits for the next one. */
export const uploadTtlMs: number = 24 * 60 * 60 * 1000
/** Uploads that one principal may have begun, those of the last day included. */
const maxUploads = 200

/** Connects the parts. Nothing is sent and no file is opened before a tool needs it. */
export function createAtproto(settings: AtprotoSettings, onDiagnostic: OnDiagnostic): Atproto {
  const { plcDirectory, allowEndpoints, nameservers, cacheDir, cacheMaxBytes, stateDir } = settings
  const exempt = plcDirectory === undefined ? allowEndpoints : [...allowEndpoints, new URL(plcDirectory).origin]
  const guard = createEndpointGuard({ allowEndpoints: exempt })
  const downloads = createDownloadMeter()
  const http = downloads.metered(createHttpClient({ guard }))
  const blobs = createBlobClient({
    guard,
    http,
    plcDirectory,
    store: createFsStore(cacheDir, { maxBytes: cacheMaxBytes, onDiagnostic }),
    account: accountOf(settings.account),
    ...(nameservers.length > 0 && { nameservers }),
    onDiagnostic,
  })
  const workflows = createWorkflows({
    store: createSqliteStore(join(stateDir, 'uploads.sqlite'), { onDiagnostic }),
    ttlMs: uploadTtlMs,
    maxPerOwner: maxUploads,
  })
  return { settings, blobs, http, downloads, uploads: (principal) => workflows.of(principal, 'blob-upload') }
}

function accountOf({ identifier, password }: AccountSetting): { identifier: string; password: string } | undefined {
  return identifier === undefined || password === undefined ? undefined : { identifier, password }
}
