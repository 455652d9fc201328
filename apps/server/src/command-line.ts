import { colourEnvironment, exitCodeTerms, type Flags, flag, type HelpText, type ParsedFlags } from '@atenea/cli'
import {
  authEnvironment,
  authFlags,
  commonFlags,
  createFrontFlags,
  folderEnvironment,
  limitFlags,
  servingExits,
} from '@atenea/fronts'
import { accountVariables, atprotoDefaults, maxMessageBlobBytes } from './atproto/atproto-settings.ts'
import { socketFile } from './settings.ts'

const frontFlags = {
  ...createFrontFlags(socketFile),
  config: flag.text('FILE', 'read settings from a JSON file with comments; flags win over it'),
} satisfies Flags

const policyFlags = {
  'allow-tool': flag.texts('GLOB', 'serve only tools whose name matches; * stands for anything', { default: 'all' }),
  'deny-tool': flag.texts('GLOB', 'do not serve tools whose name matches, even if they are allowed'),
  ...limitFlags,
} satisfies Flags

const atprotoFlags = {
  'file-root': flag.texts('DIR', 'let tools read and save files below this folder; without it they use none'),
  'inline-limit-bytes': flag.integer('N', 'largest blob that the result of a tool holds; a larger one is linked to', {
    min: 0,
    max: maxMessageBlobBytes,
    default: `${atprotoDefaults.inlineLimitBytes}, 1 MiB`,
  }),
  'cache-dir': flag.text('DIR', 'folder for blobs that were fetched', { default: 'blobs in the cache directory' }),
  'cache-max-bytes': flag.integer('N', 'bytes of all blobs in the cache together', {
    min: 0,
    max: 999_999_999_999_999,
    default: `${atprotoDefaults.cacheMaxBytes}, 1 GiB`,
  }),
  'plc-directory': flag.text('URL', 'directory of did:plc', { default: 'https://plc.directory' }),
  'allow-endpoint': flag.texts(
    'ORIGIN',
    'an exact origin that may be spoken to whatever it is, such as http://localhost:2583; all others must be public and https',
  ),
  nameserver: flag.texts('ADDRESS', 'name server that is asked for handles', { default: 'those of the system' }),
} satisfies Flags

const statusFlags = {
  'header-file': flag.text(
    'FILE',
    'headers for the server that is asked, such as Authorization, one "NAME: VALUE" a line',
  ),
} satisfies Flags

const flags = { ...frontFlags, ...statusFlags, ...authFlags, ...policyFlags, ...atprotoFlags, ...commonFlags }

export const commandLineFlags: typeof flags = flags

export type CommandLine = ParsedFlags<typeof flags>

export const helpText: HelpText = {
  summary: 'atenea-server: tools for AT Protocol records, for MCP clients of both eras.',
  usage: [
    'atenea-server [--stdio] [--socket PATH]... [--http [HOST:]PORT]... [options]',
    'atenea-server status [PATH|URL] what a running server serves',
    'atenea-server connect [PATH]    joins stdin and stdout to its socket, for clients that can only start a command',
  ],
  sections: [
    { title: 'Fronts', flags: frontFlags },
    { title: 'Sign-in by HTTP', flags: authFlags },
    { title: 'What is served', flags: policyFlags },
    { title: 'AT Protocol', flags: atprotoFlags },
    { title: 'With status URL', flags: statusFlags },
    { title: 'Other options', flags: commonFlags },
    {
      title: 'Environment',
      terms: [
        [accountVariables.identifier, 'handle or DID of the account that blobs are uploaded for'],
        [
          accountVariables.password,
          'an app password of that account; there is no flag for it, since command lines can be seen',
        ],
        ...authEnvironment,
        ...folderEnvironment,
        ...colourEnvironment,
      ],
    },
    {
      title: 'Exit codes',
      terms: exitCodeTerms(servingExits),
    },
    {
      title: 'Examples',
      lines: [
        'atenea-server                                    # for a client that starts it as a command',
        'atenea-server --socket default                   # for several clients; then: atenea-server status',
        'atenea-server --http 8420                        # for clients of this machine that speak HTTP',
        'atenea-server --http 8420 --auth-issuer https://auth.example.com --auth-audience https://mcp.example.com/mcp',
        'atenea-server --deny-tool "validate_*" --protocol legacy',
        'atenea-server --config atenea.json --log-level debug --log-format json',
      ],
    },
  ],
}
