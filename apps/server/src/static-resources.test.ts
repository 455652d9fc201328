import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { staticResource } from './static-resources.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-resource-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a pipe that took the place of a file is refused: a few readers of it would stop all work with files and names', async () => {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const writer = spawn('sh', ['-c', 'printf text >"$0"', pipe])
  const closed = once(writer, 'close')
  const { read } = staticResource({ uri: 'a:b', name: 'x', file: pipe })
  const context = { signal: new AbortController().signal } as Parameters<typeof read>[1]
  await expect((async () => await read({ uri: 'a:b' }, context))()).rejects.toMatchObject({
    message: 'The file of this resource cannot be read',
  })
  writer.kill()
  await closed
})
