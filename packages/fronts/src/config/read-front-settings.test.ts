import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readFrontSettings } from './read-front-settings.ts'

const around = { folder: '/etc/atenea', environment: { XDG_STATE_HOME: '/state' }, socketFile: 'demo.sock' }

function sockets(flags: readonly string[] | undefined, keys: readonly string[] | undefined): readonly string[] {
  return readFrontSettings({ socket: flags } as never, { sockets: keys }, around).sockets
}

test.each([
  ['default', '/state/atenea/demo.sock'],
  ['/run/a.sock', '/run/a.sock'],
  ['unix:/run/a.sock', '/run/a.sock'],
  ['a.sock', resolve('a.sock')],
])('--socket %s', (given, path) => {
  expect(sockets([given], ['ignored'])).toEqual([path])
})

test('a relative path of a configuration is below the folder of that file, as all its paths are', () => {
  expect(sockets(undefined, ['run/a.sock', 'unix:b.sock', '/c.sock'])).toEqual([
    '/etc/atenea/run/a.sock',
    '/etc/atenea/b.sock',
    '/c.sock',
  ])
})

test('a URL is no path', () => {
  expect(() => sockets(['http://127.0.0.1:80/mcp'], undefined)).toThrow('is a URL, and a socket has a path')
})
