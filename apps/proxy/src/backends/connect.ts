import type { LogFormat, Logger, Redactor } from '@atenea/cli'
import { revisionPolicy } from '@atenea/fronts'
import type { OnDiagnostic } from '@atenea/mcpcompat'
import { connectDuplex, type DialOptions } from '@atenea/mcpcompat/transport'
import type { BackendConnectOptions, BackendOptions } from '@atenea/passthrough'
import type { VerdictStore } from '@atenea/transport-http'
import { dialSocket, type ServerConnection, spawnServer } from '@atenea/transport-stdio'
import type { LazySignIns } from '../auth/lazy-sign-ins.ts'
import { mayDownload } from '../config/read-target.ts'
import type { BackendSetting } from '../settings.ts'
import { createChildLog } from './child-log.ts'
import type { Children } from './children.ts'
import { EarlyServer } from './early-server.ts'
import { connectOverHttp } from './http.ts'
import { withKnownEra } from './known-era.ts'
import { withPatience } from './patience.ts'
import { processKey } from './process-key.ts'

/** What all servers behind the proxy share. */
export interface BackendSurroundings {
  readonly logger: Logger
  readonly logFormat: LogFormat
  readonly redactor: Redactor
  readonly verdicts: VerdictStore | undefined
  readonly signIns: LazySignIns
  readonly maxMessageBytes: number
  /** How long a server that is stopped gets to end by itself. */
  readonly closeTimeoutMs: number
  readonly children: Children
  /** What everything that is started finds in its environment besides. */
  readonly childEnv: Readonly<Record<string, string>>
  /** Whether commands are started at once, each for whoever needs it first. */
  readonly startsAtOnce: boolean
  readonly onDiagnostic: OnDiagnostic | undefined
}

type Connect = BackendOptions['connect']

/** How a server is connected to, made from its setting. Payloads come as text, since they are only relayed. */
export function createConnect(setting: BackendSetting, around: BackendSurroundings): Connect {
  const connect = connectOf(setting, around)
  const { name, legacyRevisions, target } = setting
  const hint =
    target.kind === 'command' && mayDownload(target.command) ? `; ${target.command} may be downloading it first` : ''
  return async (options) => {
    const policy =
      legacyRevisions === undefined ? options.policy : revisionPolicy({ protocol: 'both', legacyRevisions })
    const onDiagnostic = named(name, options.onDiagnostic)
    try {
      return await withPatience(name, hint, around.logger, connect({ ...options, policy, onDiagnostic }))
    } catch (error) {
      // Clients read it too, and a server may repeat what it was given.
      if (error instanceof Error) error.message = around.redactor.redact(error.message)
      throw error
    }
  }
}

/** Diagnostics that say which server they are about. */
function named(name: string, onDiagnostic: OnDiagnostic | undefined): OnDiagnostic {
  return (diagnostic) => onDiagnostic?.({ ...diagnostic, message: `${name}: ${diagnostic.message}` })
}

function connectOf(setting: BackendSetting, around: BackendSurroundings): Connect {
  const { target } = setting
  switch (target.kind) {
    case 'command':
      return processConnect(setting, target, around)
    case 'socket':
      return socketConnect(target.path, around)
    case 'http':
    case 'sse':
      return async (options) => await connectOverHttp(setting, target, options, around)
  }
}

/** A silent server gets a second look after this time; where that would be a second download, later. */
const siblingAfterMs = { once: 3_000, mayDownload: 20_000 }

function processConnect(
  setting: BackendSetting,
  target: BackendSetting['target'] & { readonly kind: 'command' },
  around: BackendSurroundings,
): Connect {
  const { name, inheritEnv, startTimeoutMs = startTimeoutOf(setting) } = setting
  const { logger, logFormat, redactor, verdicts, maxMessageBytes, closeTimeoutMs, childEnv, children, startsAtOnce } =
    around
  const { command, args, cwd, env } = target
  const log = createChildLog(name, { logger, format: logFormat, redactor })
  const start = async (
    { purpose, signal }: Partial<DialOptions>,
    onDiagnostic: OnDiagnostic | undefined,
  ): Promise<ServerConnection> =>
    await children.add(
      spawnServer({
        command,
        args,
        cwd,
        env: { ...env, ...childEnv },
        inheritEnv,
        payload: 'text',
        maxLineBytes: maxMessageBytes,
        // A second look is not to be mistaken for the server.
        stderr: purpose === 'sibling' ? 'ignore' : log,
        redact: (line) => redactor.redact(line),
        closeTimeoutMs,
        signal,
        onDiagnostic,
      }),
    )
  const early = startsAtOnce ? new EarlyServer(() => start({}, named(name, around.onDiagnostic))) : undefined
  return async (options) =>
    await withKnownEra(processKey(target, inheritEnv), storeFor(options, verdicts), async (prior) =>
      connectDuplex(
        async (dialling) =>
          (dialling.purpose === 'first' ? await early?.take() : undefined) ??
          (await start(dialling, options.onDiagnostic)),
        {
          ...options,
          prior,
          startsProcess: true,
          handshakeTimeoutMs: startTimeoutMs,
          siblingAfterMs: mayDownload(command) ? siblingAfterMs.mayDownload : siblingAfterMs.once,
        },
      ),
    )
}

function socketConnect(path: string, { verdicts, maxMessageBytes }: BackendSurroundings): Connect {
  return async (options) =>
    await withKnownEra(`unix:${path}`, storeFor(options, verdicts), async (prior) =>
      connectDuplex(
        async ({ signal }) =>
          await dialSocket(path, {
            payload: 'text',
            maxLineBytes: maxMessageBytes,
            signal,
            onDiagnostic: options.onDiagnostic,
          }),
        { ...options, prior, startsProcess: false },
      ),
    )
}

/** A pin asks nobody and remembers nothing. */
function storeFor({ mode }: BackendConnectOptions, verdicts: VerdictStore | undefined): VerdictStore | undefined {
  return mode === 'auto' ? verdicts : undefined
}

/** The longest time for a start, where the setting names none. */
export function startTimeoutOf({ target, startTimeoutMs }: Pick<BackendSetting, 'target' | 'startTimeoutMs'>): number {
  return startTimeoutMs ?? (target.kind === 'command' ? 120_000 : 60_000)
}
