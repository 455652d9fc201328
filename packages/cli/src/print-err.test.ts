import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const module = JSON.stringify(join(import.meta.dirname, 'print-err.ts'))

/** A program that prints lines to stderr, says on stdout that it has, and goes on for a while. */
function printing(lines: number, length: number, restMs: number): ReturnType<typeof spawn> {
  const script = `import { printErr } from ${module}
    for (let line = 0; line < ${lines}; line++) printErr(line + ' ' + 'x'.repeat(${length}) + '\\n')
    console.log('printed')
    setTimeout(() => process.exit(3), ${restMs})`
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] })
}

test('nobody reads stderr: the program goes on, and ends', async () => {
  const child = printing(100, 20_000, 50)
  await once(child.stdout ?? child, 'data')
  expect(await once(child, 'exit')).toEqual([3, null])
})

test('a reader who comes late gets whole lines, and is told how many are missing', async () => {
  const child = printing(100, 20_000, 2_000)
  await once(child.stdout ?? child, 'data')
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await once(child, 'close')
  const lines = text.trimEnd().split('\n')
  const missing = /^\((\d+) lines were left out here/.exec(lines.at(-1) ?? '')?.[1]
  expect(Number(missing)).toBe(100 - (lines.length - 1))
  expect(lines.length).toBeGreaterThan(10)
  for (const [index, line] of lines.slice(0, -1).entries()) expect(line).toBe(`${index} ${'x'.repeat(20_000)}`)
})

test('what is written last is there, also when the process ends at once', async () => {
  const child = printing(300, 1_000, 0)
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  await once(child, 'close')
  expect(text.trimEnd().split('\n')).toHaveLength(300)
})
