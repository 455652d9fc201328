import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'

const source = new URL('../src/stdin-source.ts', import.meta.url).href
const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** Starts a process that reads its stdin with `openStdin` and then runs `body`, where `stdin` and `report` are in scope. */
function start(body: string, stdin: 'pipe' | number = 'pipe'): { child: ChildProcess; output: Promise<string> } {
  const program = `import { openStdin } from ${JSON.stringify(source)}
    import { createHash } from 'node:crypto'
    const stdin = openStdin()
    const report = (text) => process.stdout.write(text + '\\n')
    ${body}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: [stdin, 'pipe', 'inherit'],
  })
  children.push(child)
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  return { child, output: once(child, 'close').then(() => text) }
}

const hashAll = `
  const hash = createHash('sha256')
  stdin.on('data', (chunk) => hash.update(chunk))
  stdin.on('end', () => report(hash.digest('hex')))`

const data = randomBytes(1_000_000)
const digest = createHash('sha256').update(data).digest('hex')

test('every byte of a pipe arrives, then its end, and the process may end', async () => {
  const { child, output } = start(hashAll)
  for (let at = 0; at < data.length; at += 99_991) child.stdin?.write(data.subarray(at, at + 99_991))
  child.stdin?.end()
  expect(await output).toBe(`${digest}\n`)
})

test('every byte of a file arrives, then its end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atenea-stdin-'))
  const path = join(folder, 'input')
  writeFileSync(path, data)
  const fd = openSync(path, 'r')
  try {
    expect(await start(hashAll, fd).output).toBe(`${digest}\n`)
  } finally {
    closeSync(fd)
    rmSync(folder, { recursive: true })
  }
})

test('while it is paused nothing is read, and afterwards everything comes', async () => {
  const { child, output } = start(`
    let bytes = 0
    stdin.on('data', (chunk) => {
      bytes += chunk.length
      if (stdin.isPaused()) report('data while paused')
      if (bytes === chunk.length) {
        stdin.pause()
        const paused = bytes
        setTimeout(() => {
          report(bytes === paused ? 'still' : 'went on')
          stdin.resume()
        }, 100)
      }
    })
    stdin.on('end', () => report(String(bytes)))`)
  child.stdin?.end(data)
  expect(await output).toBe(`still\n${data.length}\n`)
})

test('paused, it does not keep the process alive', async () => {
  const { child, output } = start(`
    stdin.on('data', () => {
      stdin.pause()
      report('paused')
    })`)
  child.stdin?.write('x')
  expect(await output).toBe('paused\n')
})
