import {
  colourEnvironment,
  exitCodeTerms,
  type Flags,
  flag,
  type HelpText,
  logFormats,
  logLevels,
  type ParsedFlags,
} from '@atenea/cli'
import { legacyRevision } from '@atenea/mcpcompat'
import { outputFormats } from './output/formats.ts'

/** How long one answer may take unless the command line says otherwise, in milliseconds. */
export const defaultTimeoutMs = 10_000

const targetFlags = {
  config: flag.text(
    'FILE',
    'probe the servers of a client’s configuration ("mcpServers", or "servers" as in VS Code); names after it choose some',
  ),
  header: flag.texts('"NAME: VALUE"', 'send this header to the URL; others can see it on the command line'),
  'header-file': flag.text('FILE', 'send the headers of this file, one "NAME: VALUE" a line, which nobody else sees'),
} satisfies Flags

const probeFlags = {
  protocol: flag.choice(['both', 'legacy', 'modern'], 'eras of the protocol that are tried', { default: 'both' }),
  'legacy-revisions': flag.text('LIST', 'legacy revisions to ask for and to accept, separated by commas', {
    default: legacyRevision,
  }),
  'timeout-ms': flag.integer('N', 'how long each answer may take', {
    min: 50,
    max: 600_000,
    default: String(defaultTimeoutMs),
  }),
  'sign-in': flag.switch(
    'sign in where the URL wants it, with a browser or another device; a sign-in of atenea-proxy is used as well',
  ),
  call: flag.text('TOOL', 'call this tool once; no tool is called without it'),
  args: flag.text('JSON', 'arguments for --call, an object', { default: '{}' }),
} satisfies Flags

const outputFlags = {
  format: flag.choice(outputFormats, 'what is written: for people, for programs, or for a CI system', {
    default: 'text',
  }),
  output: flag.text('FILE', 'write it to a file instead of stdout'),
  html: flag.text('FILE', 'write a page for a browser besides'),
  'fail-on': flag.choice(['error', 'warning'], 'findings of this level, or a worse one, end with 1', {
    default: 'error',
  }),
  'log-level': flag.choice(logLevels, 'what is logged on stderr; silent also hides the progress', {
    default: 'warning',
  }),
  'log-format': flag.choice(logFormats, 'how it is logged', { default: 'text' }),
  help: flag.switch('show this text', { short: 'h' }),
  version: flag.switch('show the version'),
} satisfies Flags

const flags = { ...targetFlags, ...probeFlags, ...outputFlags }

export const commandLineFlags: typeof flags = flags

export type CommandLine = ParsedFlags<typeof flags>

export const helpText: HelpText = {
  summary: 'atenea-probe: what an MCP server really speaks, in both eras, and what is wrong with it.',
  usage: [
    'atenea-probe [options] URL',
    'atenea-probe [options] unix:PATH',
    'atenea-probe [options] -- COMMAND [ARG...]',
    'atenea-probe [options] --config FILE [NAME...]',
    'atenea-probe diff [options] A B    two of: URL, unix:PATH, saved report, name in --config',
  ],
  sections: [
    {
      title: 'Examples',
      lines: [
        'atenea-probe https://mcp.example.com/mcp                 # a server on the network',
        'atenea-probe -- npx -y @modelcontextprotocol/server-everything   # one that a client starts',
        'atenea-probe --config ~/.cursor/mcp.json                 # all servers of a client, side by side',
        'atenea-probe --header-file token.txt https://mcp.example.com/mcp',
        'atenea-probe --call echo --args \'{"message":"hi"}\' -- node server.js',
        'atenea-probe --format json --output today.json URL       # keep a report …',
        'atenea-probe diff yesterday.json today.json              # … and see what changed',
        'atenea-probe diff http://127.0.0.1:3000/mcp http://127.0.0.1:8420/mcp   # what a proxy loses',
        'atenea-probe --html report.html --config .vscode/mcp.json',
      ],
    },
    { title: 'What is probed', flags: targetFlags },
    { title: 'How', flags: probeFlags },
    { title: 'What comes out', flags: outputFlags },
    {
      title: 'Environment',
      terms: [
        ...colourEnvironment,
        ['NODE_EXTRA_CA_CERTS', 'a file with certificates of authorities to trust besides those of Node'],
      ],
    },
    {
      title: 'Exit codes',
      terms: [
        ...exitCodeTerms({
          ok: 'fine: a client gets in and no finding reaches --fail-on; diff: B loses and changes nothing',
          failed: 'findings at or above --fail-on, or no client gets in; diff: B loses or changes something',
          usage: 'the command line or the configuration is wrong',
          authRequired: 'the server wants credentials',
          unreachable: 'the server cannot be reached or started',
          toolFailed: 'the tool of --call failed',
          interrupted: 'interrupted',
        }),
        ['', 'with several servers the first that applies of 2, 4, 3, 5, 1, 0'],
      ],
    },
    {
      title: 'What it does and does not do',
      lines: [
        'It reads: discovery, handshake and lists in both eras, and requests that a good server refuses.',
        'It calls no tool unless you name one, changes nothing, keeps nothing but a sign-in that you asked',
        'for, and tells nobody. Secrets are taken out of all that it shows.',
      ],
    },
  ],
}
