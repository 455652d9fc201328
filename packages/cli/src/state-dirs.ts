import { isAbsolute, join } from 'node:path'
import { UsageError } from './exit-error.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Where state lives that should outlast a restart: `$XDG_STATE_HOME/atenea`, else `~/.local/state/atenea`. Not created here.
 * Throws a `UsageError` when it would be below the home directory and there is none.
 */
export function stateDir(environment: Environment): string {
  return baseDir(environment, 'XDG_STATE_HOME', ['.local', 'state'])
}

/** Where things live that can be fetched again: `$XDG_CACHE_HOME/atenea`, else `~/.cache/atenea`; else as `stateDir`. */
export function cacheDir(environment: Environment): string {
  return baseDir(environment, 'XDG_CACHE_HOME', ['.cache'])
}

/** A relative path in the variable is to be ignored, says the base directory specification. */
function baseDir(environment: Environment, variable: string, fallback: readonly string[]): string {
  const named = environment[variable]
  if (named !== undefined && isAbsolute(named)) return join(named, 'atenea')
  const home = environment['HOME']
  return join(home !== undefined && isAbsolute(home) ? home : systemHome(variable), ...fallback, 'atenea')
}

function systemHome(variable: string): string {
  const { homedir, userInfo } = process.getBuiltinModule('node:os')
  try {
    // What HOME says, relative or not; else what the system knows of the user.
    const home = homedir()
    return isAbsolute(home) ? home : userInfo().homedir
  } catch (cause) {
    // A container may run under a number that no user has.
    throw new UsageError(`this user has no home directory; set HOME or ${variable} to an absolute path`, { cause })
  }
}
