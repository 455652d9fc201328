import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'

const source = new URL('../src/direct-write.ts', import.meta.url).href

/** A process that writes to its stdout through `withDirectWrite`; `write`, `line` and `lines` are in scope of `body`. */
function start(body: string): { output: NodeJS.ReadableStream; log: Promise<string> } {
  const program = `import { withDirectWrite } from ${JSON.stringify(source)}
    const { stdout } = process
    const write = withDirectWrite(stdout, stdout.write.bind(stdout))
    ${lineOf.toString()}
    ${body}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  return { output: child.stdout, log: once(child, 'close').then(() => log) }
}

/** Lines of 1 byte to 40 KB, so that some fit into the pipe and others do not; every third has characters of several bytes. */
function lineOf(index: number): string {
  const character = index % 3 === 0 ? '読' : 'x'
  return `${index}:${character.repeat((index * 7919) % 13_000)}\n`
}

test('what a full pipe does not take comes later, whole and in order', async () => {
  const { output, log } = start(`
    for (let index = 0; index < 500; index++) write(lineOf(index))
    console.error(stdout.writableLength > 0 ? 'waits' : 'took everything')
    stdout.once('drain', () => {
      for (let index = 500; index < 520; index++) write(lineOf(index))
    })`)
  await delay(300)
  const expected = createHash('sha256')
  for (let index = 0; index < 520; index++) expected.update(lineOf(index))
  const actual = createHash('sha256')
  for await (const chunk of output) actual.update(chunk as Buffer)
  expect(actual.digest('hex')).toBe(expected.digest('hex'))
  expect(await log).toBe('waits\n')
})

test('a text that fits is in the pipe when the call returns', async () => {
  const { output } = start(`
    write('{"é":1}\\n')
    process.kill(process.pid, 'SIGKILL')`)
  const chunks: Buffer[] = []
  for await (const chunk of output) chunks.push(chunk as Buffer)
  expect(Buffer.concat(chunks).toString()).toBe('{"é":1}\n')
})

test('a reader that is gone is told by the stream', async () => {
  const { output, log } = start(`
    stdout.on('error', ({ code }) => {
      console.error(code)
      process.exit()
    })
    setInterval(() => write('x\\n'), 20)`)
  await once(output, 'data')
  ;(output as NodeJS.ReadableStream & { destroy(): void }).destroy()
  expect(await log).toBe('EPIPE\n')
})
