import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createTokenFileAuthorizer } from '../src/oauth/node/token-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-token-'))
afterAll(() => rmSync(folder, { recursive: true }))

const request = { method: 'POST', url: 'http://127.0.0.1/mcp' } as const

test('the token of a file is read again when the file has changed, also behind a link as platforms make them', async () => {
  const [first, second, path] = [join(folder, 'first'), join(folder, 'second'), join(folder, 'token')]
  writeFileSync(first, 'one-token\n')
  symlinkSync(first, path)
  const authorizer = createTokenFileAuthorizer(path)
  expect(await authorizer.fields(request, {})).toEqual({ authorization: 'Bearer one-token' })
  await new Promise((resolve) => setTimeout(resolve, 10))
  writeFileSync(second, 'another-token')
  rmSync(path)
  symlinkSync(second, path)
  expect(await authorizer.fields(request, {})).toEqual({ authorization: 'Bearer another-token' })
})

test('a pipe is refused: to wait for its writer would take a thread that nothing gives back', async () => {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const writer = spawn('sh', ['-c', 'printf one-token >"$0"', pipe])
  const closed = once(writer, 'close')
  await expect(Promise.resolve(createTokenFileAuthorizer(pipe).fields(request, {}))).rejects.toMatchObject({
    kind: 'auth',
    message: `The access token cannot be read: ${pipe} is no regular file.`,
  })
  writer.kill()
  await closed
})
