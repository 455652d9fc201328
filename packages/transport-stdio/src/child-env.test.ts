import { expect, test } from 'vitest'
import { createChildEnv, inheritedVariables } from './child-env.ts'

const from = {
  PATH: '/bin',
  HOME: '/home/a',
  AWS_SECRET_ACCESS_KEY: 'zzz',
  LANG: 'C',
  LC_ALL: undefined,
  TERM: '() { :; }; id',
}

test('only the safelist is inherited, without exported functions', () => {
  expect(createChildEnv({ from, platform: 'linux' })).toEqual({ PATH: '/bin', HOME: '/home/a', LANG: 'C' })
})

test('no name on the safelist is one that holds a secret by convention', () => {
  const names = [...inheritedVariables.posix, ...inheritedVariables.windows]
  expect(names.filter((name) => /KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL|PROXY|COOKIE/.test(name))).toEqual([])
})

test('named variables and all variables can be inherited', () => {
  expect(createChildEnv({ from, inherit: ['AWS_SECRET_ACCESS_KEY', 'NOT_SET'], platform: 'linux' })).toMatchObject({
    AWS_SECRET_ACCESS_KEY: 'zzz',
  })
  expect(Object.keys(createChildEnv({ from, inherit: 'all', platform: 'linux' }))).toEqual([
    'PATH',
    'HOME',
    'AWS_SECRET_ACCESS_KEY',
    'LANG',
  ])
})

test('explicit additions win, and undefined takes a variable away', () => {
  expect(createChildEnv({ from, add: { PATH: '/opt', LANG: undefined, X: '' }, platform: 'linux' })).toEqual({
    PATH: '/opt',
    HOME: '/home/a',
    X: '',
  })
})

test('D17: on Windows names are equal in any case, and the last spelling stays', () => {
  const windows = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', Secret: 'zzz' }
  expect(createChildEnv({ from: windows, add: { PATH: 'D:\\bin' }, inherit: ['SECRET'], platform: 'win32' })).toEqual({
    PATH: 'D:\\bin',
    SystemRoot: 'C:\\Windows',
    Secret: 'zzz',
  })
})

test('names that the language gives a meaning are plain variables', () => {
  const add = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>
  expect(Object.entries(createChildEnv({ from: {}, add, platform: 'linux' }))).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ])
})
