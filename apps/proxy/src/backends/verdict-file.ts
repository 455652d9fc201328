import { dirname } from 'node:path'
import type { OnDiagnostic } from '@atenea/mcpcompat'
import { sha256 } from '@atenea/passthrough'
import type { StoredVerdict, VerdictStore } from '@atenea/transport-http'

export interface VerdictFileOptions {
  /** Absolute path. It is made when it is missing, like the folder that it is in. */
  readonly file: string
  readonly onDiagnostic: OnDiagnostic | undefined
}

/** What stands in the file; other versions of this program may come and go. */
interface Content {
  readonly version: 1
  readonly verdicts: Readonly<Record<string, StoredVerdict>>
}

const maxVerdicts = 1_000
const maxBytes = 1_048_576

/**
 * Remembers beyond the life of this process which era servers speak. It is a cache: whatever goes wrong with the file costs a probe
 * and nothing else, so that nothing here throws. Servers are named by a digest, since their URLs and arguments may hold secrets. Several
 * processes may use one file: it is read anew before it is written, and replaced whole.
 */
export function createVerdictFile({ file, onDiagnostic }: VerdictFileOptions): VerdictStore {
  const change = (server: string, verdict: StoredVerdict | undefined): void => {
    const verdicts = new Map(Object.entries(read(file)))
    const key = sha256(server)
    verdicts.delete(key)
    if (verdict !== undefined) verdicts.set(key, verdict)
    try {
      write(file, Object.fromEntries([...verdicts].slice(-maxVerdicts)))
    } catch (cause) {
      const message = `what was found out about a server could not be kept in ${file}`
      onDiagnostic?.({ level: 'warning', code: 'verdict-not-kept', message, cause })
    }
  }
  return {
    get(server) {
      const verdicts = read(file)
      const key = sha256(server)
      return Object.hasOwn(verdicts, key) ? verdicts[key] : undefined
    },
    set: change,
    delete: (server) => change(server, undefined),
  }
}

function read(file: string): Readonly<Record<string, StoredVerdict>> {
  const { readFileSync, statSync } = process.getBuiltinModule('node:fs')
  try {
    const found = statSync(file)
    // a pipe would be waited for
    if (!found.isFile() || found.size > maxBytes) return {}
    const content = JSON.parse(readFileSync(file, 'utf8')) as Partial<Content> | null
    const { version, verdicts = {} } = content ?? {}
    if (version !== 1) return {}
    return Object.fromEntries(Object.entries(verdicts).filter(([, verdict]) => isVerdict(verdict)))
  } catch {
    // It is not there, or not ours to read, or torn.
    return {}
  }
}

function isVerdict(value: unknown): value is StoredVerdict {
  if (typeof value !== 'object' || value === null) return false
  const { era, revision, expiresAt } = value as Partial<Record<keyof StoredVerdict, unknown>>
  const isExpiry = expiresAt === undefined || Number.isSafeInteger(expiresAt)
  return (era === 'legacy' || era === 'modern') && typeof revision === 'string' && isExpiry
}

/** Whole or not at all, and for nobody else to read. */
function write(file: string, verdicts: Content['verdicts']): void {
  const { mkdirSync, renameSync, rmSync, writeFileSync } = process.getBuiltinModule('node:fs')
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  try {
    writeFileSync(draft, JSON.stringify({ version: 1, verdicts } satisfies Content), { mode: 0o600, flag: 'w' })
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
