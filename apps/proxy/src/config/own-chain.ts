import { UsageError } from '@atenea/cli'
import { delimiter } from 'node:path'

/** In the environment of everything that is started for a configuration: the files that led to it. */
export const chainVariable = 'ATENEA_PROXY_CONFIGS'

/**
 * The files that led here and the one that is read now. A configuration may well hold the proxy that reads it, and each would start the
 * next one without end: throws a `UsageError` for a file that is there already.
 */
export function chainWith(file: string, environment: Readonly<Record<string, string | undefined>>): string {
  const real = process.getBuiltinModule('node:fs').realpathSync(file)
  const before = (environment[chainVariable] ?? '').split(delimiter).filter((one) => one !== '')
  if (before.includes(real)) {
    throw new UsageError(
      `${file} holds the proxy itself, which would start itself again and again; set "disabled": true for that entry, or name the others with --server`,
    )
  }
  return [...before, real].join(delimiter)
}
