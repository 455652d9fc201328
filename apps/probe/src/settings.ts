import { type LogFormat, type LogThreshold, type Redactor, readHeaders, UsageError } from '@atenea/cli'
import {
  createRevisionPolicy,
  type JsonObject,
  parseLegacyRevisions,
  RevisionError,
  type RevisionPolicy,
} from '@atenea/mcpcompat'
import { dirname, resolve } from 'node:path'
import { type CommandLine, defaultTimeoutMs } from './command-line.ts'
import type { FailOn } from './exit-code.ts'
import type { OutputFormat } from './output/formats.ts'
import type { ProbeOptions } from './probe.ts'

/** What the command line says, but for the servers. */
export interface Settings extends Pick<ProbeOptions, 'protocol' | 'policy' | 'timeoutMs' | 'call'> {
  readonly config: string | undefined
  /** Whether somebody may be asked to sign in. */
  readonly signsIn: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly format: OutputFormat
  readonly output: string | undefined
  readonly html: string | undefined
  readonly failOn: FailOn
  readonly logLevel: LogThreshold
  readonly logFormat: LogFormat
}

/** Throws a `UsageError` that says what is wrong. Nothing was written or asked by then. */
export function readSettings({ values }: CommandLine, redactor: Redactor): Settings {
  const protocol = values.protocol ?? 'both'
  if (values.args !== undefined && values.call === undefined) throw new UsageError('--args needs --call TOOL')
  for (const file of [values.output, values.html]) if (file !== undefined) checkFolder(file)
  if (values.output !== undefined && values.html !== undefined && resolve(values.output) === resolve(values.html)) {
    throw new UsageError('--output and --html name the same file')
  }
  return {
    config: values.config,
    signsIn: values['sign-in'] ?? false,
    headers: readHeaders(values.header ?? [], values['header-file'], redactor),
    protocol,
    policy: readPolicy(values['legacy-revisions']),
    timeoutMs: values['timeout-ms'] ?? defaultTimeoutMs,
    call: values.call === undefined ? undefined : { name: values.call, args: readArguments(values.args ?? '{}') },
    format: values.format ?? 'text',
    output: values.output,
    html: values.html,
    failOn: values['fail-on'] ?? 'error',
    logLevel: values['log-level'] ?? 'warning',
    logFormat: values['log-format'] ?? 'text',
  }
}

function readPolicy(list: string | undefined): RevisionPolicy {
  if (list === undefined) return createRevisionPolicy()
  try {
    return createRevisionPolicy({ legacy: parseLegacyRevisions(list) })
  } catch (error) {
    if (RevisionError.is(error)) throw new UsageError(error.message, { cause: error })
    throw error
  }
}

function readArguments(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`--args is no JSON: ${reason}`, { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError('--args must be a JSON object, such as \'{"message":"hi"}\'')
  }
  return value as JsonObject
}

/** A folder that is not there is better told before a probe than after it. */
function checkFolder(file: string): void {
  const { statSync } = process.getBuiltinModule('node:fs')
  const folder = dirname(resolve(file))
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`cannot write ${file}: there is no folder ${folder}`)
  }
}
