import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What proxies keep. Gone with this process. */
const folder = mkdtempSync(join(tmpdir(), 'atenea-bench-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

/**
 * Where a program finds its home and its caches, as variables. Caches last from one start to the next. Each start has a home of its own,
 * since there are programs that wait for one before them which they find written down there and which was killed.
 */
export function privateFolders(): Readonly<Record<string, string>> {
  const home = mkdtempSync(join(folder, 'home-'))
  return { HOME: home, XDG_CACHE_HOME: join(folder, 'cache'), XDG_STATE_HOME: join(home, 'state') }
}
