import { describe, expect, test } from 'vitest'
import { commandTarget, urlTarget, wordTarget } from './read-target.ts'

describe('the name of a server that is started as a command', () => {
  test.each([
    [['some-server'], 'some-server'],
    [['/usr/local/bin/some-server', '--x'], 'some-server'],
    [['npx', '-y', 'some-server'], 'some-server'],
    [['npx', '-y', '@scope/some-server@1.2.3', '--token', 'x'], 'some-server'],
    [['npx', '@scope/server-everything'], 'server-everything'],
    [['uvx', 'mcp-server-git', '--repository', '.'], 'mcp-server-git'],
    [['node', 'dist/server.js'], 'server'],
    [['node', '--no-warnings', './src/main.ts'], 'main'],
    [['pnpm', 'dlx', 'some-server'], 'some-server'],
    [['npx'], 'npx'],
    [['docker', 'run', '-i', '-e', 'TOKEN=abc', 'image'], 'docker'],
    [['python3', '-m', 'some_server'], 'some_server'],
  ])('%j is %s', (words, name) => {
    expect(commandTarget(words)).toEqual({
      name,
      target: { kind: 'command', command: words[0], args: words.slice(1), env: {}, cwd: undefined },
    })
  })
})

test('a URL is known by its host, a socket by its file', () => {
  expect(wordTarget('https://example.com:8443/mcp?key=abc')).toEqual({
    name: 'example.com:8443',
    target: { kind: 'http', url: 'https://example.com:8443/mcp?key=abc', headers: {} },
  })
  expect(wordTarget('unix:/run/user/1000/files.sock')).toEqual({
    name: 'files',
    target: { kind: 'socket', path: '/run/user/1000/files.sock' },
  })
  expect(urlTarget('http://localhost:1/sse', 'sse')).toMatchObject({ name: 'localhost:1', target: { kind: 'sse' } })
})

test.each([
  ['npx', 'two hyphens: atenea-proxy -- npx'],
  ['ftp://example.com', 'reached by http:// or https://, not by ftp://'],
  ['files', 'neither a URL nor unix:PATH'],
  ['unix:', 'needs the path of a socket'],
  ['http://', 'must begin with http:// or https://'],
])('%s is no server', (word, message) => {
  expect(() => wordTarget(word)).toThrow(message)
})

test('a command has to follow the hyphens', () => {
  expect(() => commandTarget([])).toThrow('a command has to follow --')
})
