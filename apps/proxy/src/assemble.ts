import type { Logger, Redactor } from '@atenea/cli'
import { logDiagnostics, revisionPolicy } from '@atenea/fronts'
import { createPassthrough, type Passthrough } from '@atenea/passthrough'
import { createConnect, startTimeoutOf } from './backends/connect.ts'
import { createVerdictFile } from './backends/verdict-file.ts'
import { logEvents } from './log-events.ts'
import { addBackendSecrets } from './secrets.ts'
import type { NameFilter, Settings } from './settings.ts'
import { version } from './version.ts'

/** The proxy as a dispatcher: nothing is started or connected before somebody needs it. */
export function assemble(settings: Settings, logger: Logger, redactor: Redactor): Passthrough {
  const onDiagnostic = logDiagnostics(logger)
  const { backends, verdictFile, legacyRevisions, maxBodyBytes, shutdownTimeoutMs, logFormat } = settings
  for (const backend of backends) addBackendSecrets(backend, redactor)
  const around = {
    logger,
    logFormat,
    redactor,
    verdicts: verdictFile === undefined ? undefined : createVerdictFile({ file: verdictFile, onDiagnostic }),
    maxMessageBytes: maxBodyBytes,
    closeTimeoutMs: shutdownTimeoutMs,
  }
  return createPassthrough({
    info: { name: 'atenea-proxy', title: 'Atenea: proxy', version },
    // Whatever clients may speak, a server is spoken to in its own era.
    policy: revisionPolicy({ protocol: 'both', legacyRevisions }),
    bridgeInput: settings.bridgeInput,
    backends: backends.map((backend) => ({
      name: backend.name,
      mode: backend.mode,
      connect: createConnect(backend, around),
      allow: { tools: allowed(backend.tools) },
      connectTimeoutMs: startTimeoutOf(backend),
      callTimeoutMs: backend.callTimeoutMs,
      maxCallMs: backend.maxCallMs,
    })),
    onEvent: logEvents(logger),
    onDiagnostic,
  })
}

function allowed({ enabled, disabled }: NameFilter): {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
} {
  return { ...(enabled !== undefined && { allow: enabled }), ...(disabled !== undefined && { deny: disabled }) }
}
