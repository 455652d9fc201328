import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { runProbe } from './_util/run-probe.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-probe-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe('help and version', () => {
  test.each([['--help'], ['-h'], ['diff', '--help']])('%j prints help on stdout and exits with 0', async (...args) => {
    const { code, stdout, stderr } = await runProbe(args)
    expect([code, stderr]).toEqual([0, ''])
    for (const flag of [
      'config FILE',
      'header ',
      'header-file FILE',
      'protocol',
      'legacy-revisions LIST',
      'timeout-ms N',
      'call TOOL',
      'args JSON',
    ]) {
      expect(stdout).toContain(`--${flag}`)
    }
    for (const flag of [
      'format text|json|junit|sarif',
      'output FILE',
      'html FILE',
      'fail-on error|warning',
      'log-level',
      'log-format',
      'version',
    ]) {
      expect(stdout).toContain(`--${flag}`)
    }
    for (const part of ['Usage:', 'Examples:', 'Exit codes:', 'NO_COLOR', 'atenea-probe diff', '-- npx -y'])
      expect(stdout).toContain(part)
    expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([])
  })

  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
      version: string
    }
    expect(await runProbe(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })
})

describe('what is wrong with a command line is said on stderr, with what to do, and exits with 2', () => {
  test.each([
    [[], 'what to probe? Give a URL, unix:PATH, -- COMMAND, or --config FILE'],
    [['--formt', 'json', 'http://x'], 'unknown flag --formt; did you mean --format?'],
    [
      ['--format', 'jsn', 'http://x'],
      '--format must be one of text, json, junit, sarif, not "jsn"; did you mean json?',
    ],
    [['--timeout-ms', '5', 'http://x'], '--timeout-ms must be a whole number from 50'],
    [['localhost:3000'], '"localhost:3000" is no URL; did you mean http://localhost:3000/mcp?'],
    [['mcp.example.com/mcp'], '"mcp.example.com/mcp" is no URL; did you mean https://mcp.example.com/mcp?'],
    [['mcp.json'], '"mcp.json" is no server; to probe those of a configuration write --config mcp.json'],
    [['npx'], '"npx" is neither a URL nor unix:PATH; a command stands after --, as in: atenea-probe -- npx'],
    [['http://'], '"http://" is no URL'],
    [['unix:'], 'unix: needs the path of a socket after it'],
    [['--'], '-- needs a command after it'],
    [['http://a', 'http://b'], 'one server at a time; several stand in a file that --config names'],
    [['http://a', '--', 'node'], 'one server at a time'],
    [['--header', 'A: b', '--', 'node'], '--header goes with a URL'],
    [['--header', 'nonsense', 'http://x'], '--header: a header is written "NAME: VALUE"'],
    [['--args', '{}', 'http://x'], '--args needs --call TOOL'],
    [['--call', 'a', '--args', '[1]', 'http://x'], '--args must be a JSON object'],
    [['--call', 'a', '--args', '{', 'http://x'], '--args is no JSON: '],
    [['--legacy-revisions', 'yesterday', 'http://x'], '"yesterday" is not a revision'],
    [
      ['--output', '/nowhere/at/all/x', 'http://x'],
      'cannot write /nowhere/at/all/x: there is no folder /nowhere/at/all',
    ],
    [['--output', 'x', '--html', './x', 'http://x'], '--output and --html name the same file'],
    [['--config', '/nowhere.json'], 'cannot read the configuration /nowhere.json'],
    [['diff'], 'diff takes two'],
    [['diff', 'http://a'], 'diff takes two'],
    [['diff', 'http://a', 'none.json'], 'there is no saved report none.json'],
    [['diff', 'http://a', 'http://b', '--format', 'sarif'], 'diff is written as text or json, not as sarif'],
    [['diff', 'http://a', 'http://b', '--html', 'x'], 'diff writes no page'],
    [['diff', 'http://a', 'http://b', '--call', 'x'], 'diff calls no tools'],
    [['diff', 'http://a', '--', 'node'], 'diff takes no command'],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await runProbe(args, { cwd: folder })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`atenea-probe: ${message}`)
    expect(stderr).toContain('See atenea-probe --help.')
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  test.each([
    ['no servers at all', '{ "mcpServers": {} }', [], 'has no servers'],
    [
      'no such server',
      '{ "mcpServers": { "tea": { "command": "x" } } }',
      ['tee'],
      'names no server "tee"; did you mean tea?',
    ],
    ['a header for all', '{ "mcpServers": {} }', ['--header', 'A: b'], '--header goes with a URL'],
    ['a tool for all', '{ "mcpServers": {} }', ['--call', 'a'], '--call goes with one server'],
    ['a command besides', '{ "mcpServers": {} }', ['--', 'node'], 'either --config or a command after --, not both'],
    ['no configuration', '{ "mcpServer": {} }', [], 'names no servers'],
  ])('a configuration with %s', async (_name, text, args, message) => {
    const { code, stdout, stderr } = await runProbe(['--config', file('mcp.json', text), ...args])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })

  test('as one JSON line where that was asked for', async () => {
    const { code, stderr } = await runProbe(['--log-format', 'json', '--nope'])
    expect(code).toBe(2)
    expect(JSON.parse(stderr)).toMatchObject({ level: 'error', name: 'atenea-probe', message: 'unknown flag --nope' })
  })

  test('words after -- belong to the command, whatever they look like', async () => {
    const { code, stdout } = await runProbe([
      '--timeout-ms',
      '3000',
      '--',
      process.execPath,
      '-e',
      'process.exit(7)',
      '--help',
    ])
    expect(code).toBe(4)
    expect(stdout).toContain('process.exit(7) --help')
  })
})
