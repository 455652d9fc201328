import { expect, test } from 'vitest'
import { readRoots } from './read-roots.ts'

const at = (index: number): string => `root ${index}`

test.each([
  ['/srv/a b', 'file:///srv/a%20b'],
  ['/srv/../x/', 'file:///x'],
  ['data', 'file:///folder/data'],
  ['../data', 'file:///data'],
  ['C:\\Users\\a', 'file:///C:/Users/a'],
  ['c:/x', 'file:///c:/x'],
  ['\\\\server\\share', 'file://server/share'],
  ['file:///C:/x', 'file:///C:/x'],
  [{ uri: 'file:///y', name: 'Y' }, 'file:///y'],
])('%j is %s', (given, uri) => {
  expect(readRoots([given], '/folder', at)).toEqual([
    typeof given === 'string' || given.name === undefined ? { uri } : { uri, name: given.name },
  ])
})

test.each(['https://example.com/x', 'file:/x', 'file:///a/%2e%2e/b', 'C:\\a\\..\\b', 'C:x', 'mailto:x', { uri: '/x' }])(
  'MC-ROOT-02, MC-ROOT-03: %j is refused by its place',
  (given) => {
    expect(() => readRoots(['/x', given], '/folder', at)).toThrow(/^root 1 must be a path or a file:\/\/ URI: "/)
  },
)
