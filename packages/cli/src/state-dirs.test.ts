import os, { homedir } from 'node:os'
import { describe, expect, test, vi } from 'vitest'
import { cacheDir, stateDir } from './state-dirs.ts'

describe('state and cache directories', () => {
  test.each([
    [{ XDG_STATE_HOME: '/s', XDG_CACHE_HOME: '/c', HOME: '/h' }, '/s/atenea', '/c/atenea'],
    [{ HOME: '/h' }, '/h/.local/state/atenea', '/h/.cache/atenea'],
    [{ XDG_STATE_HOME: 'relative', XDG_CACHE_HOME: '', HOME: '/h' }, '/h/.local/state/atenea', '/h/.cache/atenea'],
    [{}, `${homedir()}/.local/state/atenea`, `${homedir()}/.cache/atenea`],
  ])('%j', (environment, state, cache) => {
    expect(stateDir(environment)).toBe(state)
    expect(cacheDir(environment)).toBe(cache)
  })

  test('a relative HOME is ignored: where things live does not depend on where the program was started', () => {
    vi.stubEnv('HOME', 'relative')
    try {
      expect(stateDir({ HOME: 'relative' })).toBe(`${os.userInfo().homedir}/.local/state/atenea`)
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('a user without a home hears what to set', () => {
    using _ = vi.spyOn(os, 'homedir').mockImplementation(() => {
      throw new Error('uv_os_get_passwd returned ENOENT')
    })
    expect(() => cacheDir({})).toThrow(/no home directory; set HOME or XDG_CACHE_HOME/)
    expect(stateDir({ XDG_STATE_HOME: '/s' })).toBe('/s/atenea')
  })
})
