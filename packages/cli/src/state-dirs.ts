import { isAbsolute, join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** Where state lives that should outlast a restart: `$XDG_STATE_HOME/atenea`, else `~/.local/state/atenea`. Not created here. */
export function stateDir(environment: Environment): string {
  return baseDir(environment, 'XDG_STATE_HOME', ['.local', 'state'])
}

/** Where things live that can be fetched again: `$XDG_CACHE_HOME/atenea`, else `~/.cache/atenea`. Not created here. */
export function cacheDir(environment: Environment): string {
  return baseDir(environment, 'XDG_CACHE_HOME', ['.cache'])
}

/** A relative path in the variable is to be ignored, says the base directory specification. */
function baseDir(environment: Environment, variable: string, fallback: readonly string[]): string {
  const named = environment[variable]
  if (named !== undefined && isAbsolute(named)) return join(named, 'atenea')
  const home = environment['HOME']
  return join(
    home !== undefined && isAbsolute(home) ? home : process.getBuiltinModule('node:os').homedir(),
    ...fallback,
    'atenea',
  )
}
