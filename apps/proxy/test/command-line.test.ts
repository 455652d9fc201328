/* oxlint-disable no-template-curly-in-string -- variables of a configuration are written that way */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { afterAll, describe, expect, test } from 'vitest'
import { binPath, privateHome } from './_util/proxy-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-proxy-cli-'))
const home = privateHome()
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
  home[Symbol.dispose]()
})

interface Run {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the binary to its end, with nothing on stdin. */
function run(...args: readonly string[]): Run {
  const { status, stdout, stderr } = spawnSync(process.execPath, [binPath, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...home.environment },
    input: '',
    timeout: 10_000,
  })
  return { status, stdout, stderr }
}

function fileOf(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

test.each([['--help'], ['-h'], ['status', '--help'], ['--help', '--', 'npx', '--version']])(
  '%j prints help on stdout and exits with 0',
  (...args) => {
    const { status, stdout, stderr } = run(...args)
    expect([status, stderr]).toEqual([0, ''])
    for (const part of ['Usage:', '-- COMMAND', 'URL', 'unix:PATH', '--config FILE', 'Exit codes:', 'Examples:']) {
      expect(stdout).toContain(part)
    }
    for (const flag of ['--stdio', '--http', '--socket', '--protocol', '--backend-protocol', '--legacy-revisions']) {
      expect(stdout).toContain(flag)
    }
    for (const flag of ['--allow-tool', '--deny-tool', '--header', '--header-file', '--http-sse', '--max-body-bytes']) {
      expect(stdout).toContain(flag)
    }
    for (const flag of ['--bearer-token-file', '--allow-unauthenticated', '--log-level', '--log-format']) {
      expect(stdout).toContain(flag)
    }
    // a terminal of 100 columns shows it without breaking lines
    expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([])
  },
)

test('--version prints the version of the package', () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as { version: string }
  expect(run('--version')).toEqual({ status: 0, stdout: `${manifest.version}\n`, stderr: '' })
})

describe('what is wrong with a command line is said on stderr, with 2, and what to do', () => {
  test.each([
    [[], 'no server is named: give a URL, unix:PATH, --config FILE, or a command after two hyphens'],
    [
      ['npx', '-y', 'some-server'],
      '"npx" is neither a URL nor unix:PATH; a command to start comes after two hyphens: atenea-proxy -- npx',
    ],
    [['--http', '8080', 'npx'], 'atenea-proxy -- npx'],
    [['statsu'], '"statsu" is neither'],
    [['--'], 'a command has to follow --'],
    [
      ['https://a.example/mcp', '--', 'x'],
      'one server can be named on the command line; put several into a file for --config',
    ],
    [['https://a.example', 'https://b.example'], 'one server can be named'],
    [['--config', 'x.json', 'https://a.example'], '--config names the servers; leave out'],
    [['--server', 'a', 'https://a.example'], '--server takes servers of a configuration'],
    [['--protocl', 'legacy', 'https://a.example'], 'unknown flag --protocl; did you mean --protocol?'],
    [['--backend-protocol', 'moderm', 'https://a.example'], 'did you mean modern?'],
    [
      ['--header', 'X-Secret', 'https://a.example'],
      'what follows --header must be the name of a header, a colon and its value',
    ],
    [['--header', 'X-A: secret', '--', 'x'], '--header and --header-file are for servers that are reached by HTTP'],
    [['--pass-env', 'HOME', 'https://a.example'], '--pass-env is for servers that are started as a command'],
    [['--http-sse', 'example.com'], 'the URL of a server must begin with http:// or https://'],
    [['--http-sse', 'https://a.example', '--backend-protocol', 'modern'], 'a server of HTTP+SSE is a legacy one'],
    [['--rename', 'a', 'https://a.example'], '--rename must be OLD=NEW'],
    [['--rename', 'other:a=b', 'https://a.example'], '--rename names no server "other"'],
    [['--legacy-revisions', modernRevision, 'https://a.example'], 'is a modern revision'],
    [
      ['--protocol', 'modern', '--legacy-revisions', legacyRevision, 'https://a.example'],
      'but the protocol is modern only',
    ],
    [['--http', '0.0.0.0:0', 'https://a.example'], 'other machines can reach 0.0.0.0'],
    [['status', 'a', 'b'], 'status takes one socket path'],
    [['connect', 'https://a.example'], 'connect takes the path of a socket; for a URL leave out the word connect'],
  ])('%j', (args, message) => {
    const { status, stdout, stderr } = run(...args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(stderr).toContain('See atenea-proxy --help.')
    expect(stderr).not.toMatch(/\n\s+at |secret/)
  })

  test('as one JSON line where that was asked for', () => {
    const { status, stderr } = run('--log-format', 'json', '--nope')
    expect(status).toBe(2)
    expect(JSON.parse(stderr)).toMatchObject({ level: 'error', name: 'atenea-proxy', message: 'unknown flag --nope' })
  })
})

describe('what is wrong with a configuration is said with its place, with 2', () => {
  test.each([
    [
      '{"mcpServers":{"a":{"command":"x","atenea":{"inheritEnvs":[]}}}}',
      ':1:45: unknown key "inheritEnvs"; did you mean "inheritEnv"?',
    ],
    [
      '{"mcpServers":{"a":{"command":"x"}},"atenea":{"seperator":"-"}}',
      'unknown key "seperator"; did you mean "separator"?',
    ],
    ['{"mcpServers":{"a":{"command":"x","url":"https://a.example"}}}', 'it has both a command and a URL'],
    ['{"mcpServers":{"a":{}}}', 'it needs a "command" to start or a "url" to ask'],
    [
      '{"mcpServers":{"a":{"command":"x","env":{"T":"${NOT_SET_ANYWHERE}"}}}}',
      'the variable NOT_SET_ANYWHERE is not set',
    ],
    ['{"mcpServers":{"a":{"command":"x","disabled":true}}}', 'names no server that is not disabled'],
    [
      '{"servers":{"a":{"url":"https://a.example","headers":{"A":"${input:token}"}}}}',
      'only the editor can ask for ${input:…}',
    ],
    [
      '{"mcpServers":{"a":{"command":"x","atenea":{"legacyRevisions":["yesterday"]}}}}',
      'a: "yesterday" is not a revision',
    ],
    [
      '{"mcpServers":{"a":{"command":"x","atenea":{"headerFile":"h"}}}}',
      'headerFile is for servers that are reached by HTTP',
    ],
    ['{}', 'names no servers'],
    ['{', 'this is not JSON'],
  ])('%s', (text, message) => {
    const { status, stderr } = run('--config', fileOf('bad.json', text))
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  test('a server that is not there, or is disabled', () => {
    const file = fileOf('two.json', '{"mcpServers":{"files":{"command":"x"},"off":{"command":"x","disabled":true}}}')
    expect(run('--config', file, '--server', 'flies').stderr).toContain('has no server "flies"; did you mean "files"?')
    expect(run('--config', file, '--server', 'off').stderr).toContain('the server "off" is disabled')
    expect(run('--config', file, '--header', 'A: b').stderr).toContain('a configuration has "headers" for each server')
    expect(run('--config', join(folder, 'none.json')).stderr).toContain('cannot read the configuration')
  })
})

describe('status and connect', () => {
  test('nobody is there: 4, and what to do', () => {
    const socket = join(folder, 'none.sock')
    expect(run('status', socket)).toMatchObject({ status: 4, stdout: '' })
    const connected = run('connect', socket)
    expect(connected).toMatchObject({ status: 4, stdout: '' })
    expect(connected.stderr).toContain('Start one with: atenea-proxy --socket default')
    expect(run('status', 'http://127.0.0.1:9/mcp')).toMatchObject({ status: 4, stdout: '' })
  })
})

test.each([['accounts'], ['login', 'http://127.0.0.1:1/mcp'], ['logout', 'http://127.0.0.1:1/mcp']])(
  'a place where no sign-ins can be kept is told in one line: %j',
  (...args) => {
    const state = fileOf('no-folder', 'a file')
    const { status, stderr } = spawnSync(process.execPath, [binPath, ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...home.environment, XDG_STATE_HOME: state },
      timeout: 10_000,
    })
    expect(status).not.toBe(0)
    expect(stderr).toMatch(/^atenea-proxy: Sign-ins cannot be kept in .*no-folder\S* \(ENOTDIR\)\.\n$/)
  },
)
