import type { ExitCodeMeanings } from '@atenea/cli'

/** How a program that serves ends. */
export const servingExits: ExitCodeMeanings = {
  ok: 'ended in order: the client closed stdin, or SIGTERM',
  failed: 'something unexpected happened',
  usage: 'the command line or the configuration is wrong',
  unreachable: 'a socket or a port cannot be used, or nobody answers there',
  interrupted: 'interrupted by SIGINT, or by a second signal',
}

/** Variables that say where a program that serves keeps what it keeps. */
export const folderEnvironment: readonly (readonly [string, string])[] = [
  ['XDG_CACHE_HOME', 'the cache directory is atenea below it (default: ~/.cache/atenea)'],
  ['XDG_STATE_HOME', 'the state directory is atenea below it (default: ~/.local/state/atenea)'],
]
