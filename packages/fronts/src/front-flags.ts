import {
  type Flag,
  flag,
  type LogFormat,
  type LogThreshold,
  logFormats,
  logLevels,
  type ParsedFlags,
} from '@atenea/cli'
import type { authFlags } from './auth/auth-flags.ts'
import { defaultHttpHost, frontDefaults, type Protocol } from './front-settings.ts'

type FrontFlags = Readonly<{
  stdio: Flag<true>
  socket: Flag<readonly string[]>
  http: Flag<readonly string[]>
  'bearer-token-file': Flag<string>
  'allow-unauthenticated': Flag<true>
  'allow-origin': Flag<readonly string[]>
  protocol: Flag<Protocol>
  'legacy-revisions': Flag<string>
}>

/** Flags that say where and to whom is served. `socketFile` is what the word `default` stands for, in the state directory. */
export function createFrontFlags(socketFile: string): FrontFlags {
  return {
    stdio: flag.switch('serve the client that started this process, on stdin and stdout', {
      default: 'when no other front is named',
    }),
    socket: flag.texts(
      'PATH',
      `serve clients on a unix socket that only you can reach; the word default stands for ${socketFile} in the state directory`,
    ),
    http: flag.texts(
      '[HOST:]PORT',
      `serve clients by HTTP on http://HOST:PORT/mcp; HOST is ${defaultHttpHost} unless given, and any other than this machine needs --auth-issuer or one of the next two`,
    ),
    'bearer-token-file': flag.text(
      'FILE',
      'serve HTTP only to clients that send one of the tokens in this file: a line for each, with a name before it or not',
    ),
    'allow-unauthenticated': flag.switch('serve HTTP to everybody who can reach it, also from other machines'),
    'allow-origin': flag.texts('ORIGIN', 'let pages of this origin ask by HTTP, such as https://example.com'),
    protocol: flag.choice(['both', 'legacy', 'modern'], 'eras of the protocol that are served', { default: 'both' }),
    'legacy-revisions': flag.text(
      'LIST',
      'legacy revisions to serve, separated by commas, in place of the default one',
    ),
  }
}

export const limitFlags: Readonly<{ 'max-body-bytes': Flag<number> }> = {
  'max-body-bytes': flag.integer('N', 'longest message that is read, in bytes', {
    min: 1024,
    max: 256 * 1024 * 1024,
    default: `${frontDefaults.maxBodyBytes}, 16 MiB`,
  }),
}

export const commonFlags: Readonly<{
  'log-level': Flag<LogThreshold>
  'log-format': Flag<LogFormat>
  help: Flag<true>
  version: Flag<true>
}> = {
  'log-level': flag.choice(logLevels, 'what is logged on stderr', { default: frontDefaults.logLevel }),
  'log-format': flag.choice(logFormats, 'how it is logged', { default: frontDefaults.logFormat }),
  help: flag.switch('show this text', { short: 'h' }),
  version: flag.switch('show the version'),
}

/** What was given of the flags about fronts and limits. */
export type FrontValues = ParsedFlags<FrontFlags & typeof limitFlags & typeof authFlags>['values']

/** What was given of the flags that every program has. */
export type CommonValues = ParsedFlags<typeof commonFlags>['values']
