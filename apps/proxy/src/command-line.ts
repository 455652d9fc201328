import { colourEnvironment, exitCodeTerms, type Flags, flag, type HelpText, type ParsedFlags } from '@atenea/cli'
import { signInEnvironment, signInFlags } from './auth/sign-in-flags.ts'
import {
  authEnvironment,
  authFlags,
  commonFlags,
  createFrontFlags,
  folderEnvironment,
  limitFlags,
  servingExits,
} from '@atenea/fronts'
import { socketFile } from './settings.ts'

const frontFlags = createFrontFlags(socketFile)

const backendFlags = {
  config: flag.text(
    'FILE',
    'put the servers of an MCP client’s configuration behind the proxy: .mcp.json, claude_desktop_config.json, .vscode/mcp.json and others, read as they are and never written',
  ),
  server: flag.texts('NAME', 'take only this server of the configuration', { default: 'all that are not disabled' }),
  'http-sse': flag.text('URL', 'a server of the deprecated HTTP+SSE transport, in place of a URL of Streamable HTTP'),
  'backend-protocol': flag.choice(
    ['auto', 'legacy', 'modern'],
    'what the server speaks; auto finds out, the others are pins that fail when they do not hold',
    { default: 'auto' },
  ),
  header: flag.texts('K: V', 'a header for every request to the server; seen by others in the list of processes'),
  'header-file': flag.text('FILE', 'headers for every request to the server, one K: V a line'),
  'pass-env': flag.texts(
    'NAME',
    'a variable that the started command inherits besides the usual few such as PATH and HOME; * for all',
  ),
  root: flag.texts(
    'PATH',
    'what a legacy server is told when it asks for roots and the client has none: a path or a file:// URI',
  ),
} satisfies Flags

const crossingFlags = {
  'allow-tool': flag.texts('GLOB', 'let only tools through whose own name matches; * stands for anything', {
    default: 'all',
  }),
  'deny-tool': flag.texts('GLOB', 'do not let tools through whose own name matches, even if they are allowed'),
  rename: flag.texts('OLD=NEW', 'give a tool another name; with several servers OLD is server:tool'),
  separator: flag.text(
    'TEXT',
    'what stands between the name of a server and that of its tool, where there are several',
    {
      default: '__',
    },
  ),
  lock: flag.text('FILE', 'hold back tools that are not as this file says, which atenea-proxy pin makes'),
  'bridge-input': flag.switch('relay questions of servers to people also between the two eras'),
  'seal-key-file': flag.text(
    'FILE',
    'keys for what clients carry for servers that ask them, one "ID KEY" a line, of 32 bytes in base64; the first seals, all open',
    { default: 'a key that is forgotten at the end' },
  ),
  'pass-extensions': flag.switch('forward methods that the proxy does not know'),
} satisfies Flags

const boundFlags = {
  'start-timeout-ms': flag.integer('N', 'longest time for the start of a server, handshake included', {
    min: 100,
    max: 3_600_000,
    default: '120000 for a command, which may have to be downloaded, else 60000',
  }),
  'call-timeout-ms': flag.integer('N', 'longest time of a call without an answer or progress', {
    min: 100,
    max: 86_400_000,
    default: '120000',
  }),
  'max-call-ms': flag.integer('N', 'longest time of a call, whatever progress it makes', {
    min: 100,
    max: 86_400_000,
    default: '1800000',
  }),
  'answer-ms': flag.integer(
    'N',
    'longest time that a call of a legacy server waits for the answers of a modern client',
    {
      min: 100,
      max: 600_000,
      default: '600000',
    },
  ),
  'max-asking-calls': flag.integer(
    'N',
    'calls that may be open at once of clients that can be asked, for a legacy server that does not say in which call it asks; each has a process or a session',
    { min: 1, max: 1_000, default: '4' },
  ),
  'unheard-session-ms': flag.integer(
    'N',
    'how long a legacy server keeps the session of a client that calls nothing and holds no stream open; its next call opens another',
    { min: 1_000, max: 86_400_000, default: '1800000' },
  ),
  ...limitFlags,
  'verdict-file': flag.text(
    'FILE',
    'where it is remembered which era a server speaks; the word none stands for nowhere',
    {
      default: 'verdicts.json in the cache directory',
    },
  ),
} satisfies Flags

const flags = {
  ...frontFlags,
  ...authFlags,
  ...backendFlags,
  ...signInFlags,
  ...crossingFlags,
  ...boundFlags,
  ...commonFlags,
}

export const commandLineFlags: typeof flags = flags

export type CommandLine = ParsedFlags<typeof flags>

/** The words of a command line before and after the first `--`, which begins the command to start. */
export interface SplitWords {
  readonly own: readonly string[]
  readonly command: readonly string[] | undefined
}

/** `known` are the words that name a command of ours. */
export function splitWords(words: readonly string[], known: readonly string[]): SplitWords {
  const end = words.indexOf('--')
  const [first = '-'] = words
  // A command without the hyphens before it: its flags are not ours, and the word alone says what is wrong.
  if (end < 0 && !known.includes(first) && !/^(?:-|https?:|unix:)/i.test(first))
    return { own: [first], command: undefined }
  return end < 0 ? { own: words, command: undefined } : { own: words.slice(0, end), command: words.slice(end + 1) }
}

export const helpText: HelpText = {
  summary: 'atenea-proxy: puts any MCP server, of either era and on any transport, in front of any MCP client.',
  usage: [
    'atenea-proxy [options] -- COMMAND [ARG...]       a server that is started as a command',
    'atenea-proxy [options] URL                       a server on Streamable HTTP',
    'atenea-proxy [options] unix:PATH                 a server on a unix socket',
    'atenea-proxy [options] --config FILE             the servers of an MCP client, as one',
    'atenea-proxy pin [--lock FILE] …                 pins all tools as they are now, for --lock',
    'atenea-proxy status [PATH|URL]                   how a running proxy and its servers are',
    'atenea-proxy login URL|NAME                      signs in at a server, for all your proxies',
    'atenea-proxy logout URL|NAME                     signs out of it, and has the sign-in revoked',
    'atenea-proxy accounts                            where this user is signed in',
    'atenea-proxy connect [PATH]                      joins stdin and stdout to its socket',
  ],
  sections: [
    { title: 'Fronts, where clients come in; several at once are fine', flags: frontFlags },
    { title: 'Sign-in of clients by HTTP', flags: authFlags },
    { title: 'Servers behind it', flags: backendFlags },
    { title: 'Sign-in at servers by HTTP that want one', flags: signInFlags },
    { title: 'What crosses', flags: crossingFlags },
    { title: 'Bounds', flags: boundFlags },
    { title: 'Other options', flags: commonFlags },
    {
      title: 'Environment',
      terms: [
        ...authEnvironment,
        ...signInEnvironment,
        ...folderEnvironment,
        ['HTTPS_PROXY, NO_PROXY', 'how servers on HTTP are reached; NODE_EXTRA_CA_CERTS names further authorities'],
        ...colourEnvironment,
      ],
    },
    {
      title: 'Exit codes',
      terms: exitCodeTerms({ ...servingExits, authRequired: 'login: nobody signed in' }),
    },
    {
      title: 'Examples',
      lines: [
        'atenea-proxy -- npx -y some-server                       # bridges the eras, both ways',
        'atenea-proxy --http 8080 -- npx -y some-server           # as http://127.0.0.1:8080/mcp',
        'atenea-proxy https://example.com/mcp                     # for clients that start commands',
        'atenea-proxy --header-file token.txt https://example.com/mcp',
        'atenea-proxy --config .mcp.json --http 8080 --socket default   # all servers as one',
        'atenea-proxy --deny-tool "delete_*" -- npx -y some-server',
      ],
    },
  ],
}
