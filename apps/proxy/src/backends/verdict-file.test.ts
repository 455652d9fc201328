import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Diagnostic } from '@atenea/mcpcompat'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createVerdictFile } from './verdict-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-verdicts-'))
const file = join(folder, 'cache/atenea/verdicts.json')
afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeEach(() => rmSync(join(folder, 'cache'), { recursive: true, force: true }))

const legacy = { era: 'legacy', revision: 'r', expiresAt: 5 } as const
const modern = { era: 'modern', revision: 's', expiresAt: undefined } as const

test('A-37: what one process found out another one knows', () => {
  const one = createVerdictFile({ file, onDiagnostic: undefined })
  const other = createVerdictFile({ file, onDiagnostic: undefined })
  expect(one.get('a')).toBeUndefined()
  void one.set('a', legacy)
  void other.set('b', modern)
  expect([one.get('a'), one.get('b'), other.get('a')]).toEqual([legacy, { era: 'modern', revision: 's' }, legacy])
  void one.delete('a')
  expect([other.get('a'), other.get('b')]).toEqual([undefined, { era: 'modern', revision: 's' }])
})

test('F16: the file tells nobody else what it is about', () => {
  void createVerdictFile({ file, onDiagnostic: undefined }).set('https://a.example/?key=hunter22', modern)
  expect(readFileSync(file, 'utf8')).not.toMatch(/hunter22|a\.example/)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'cache/atenea')).mode & 0o777).toBe(0o700)
})

test.each([
  '',
  '{',
  'null',
  '[]',
  '{"version":2,"verdicts":{}}',
  '{"version":1,"verdicts":{"x":{"era":"odd"}}}',
  '\u0000',
])('a file that holds %j is as good as none, and is replaced', (text) => {
  const store = createVerdictFile({ file, onDiagnostic: undefined })
  void store.set('a', legacy)
  writeFileSync(file, text)
  expect(store.get('a')).toBeUndefined()
  void store.set('a', modern)
  expect(store.get('a')).toMatchObject({ era: 'modern' })
})

test('names of prototypes are names like others', () => {
  const store = createVerdictFile({ file, onDiagnostic: undefined })
  expect(store.get('__proto__')).toBeUndefined()
  void store.set('constructor', legacy)
  expect([store.get('constructor'), store.get('toString')]).toEqual([legacy, undefined])
})

test('a folder that cannot be written to is told and fails nothing', () => {
  writeFileSync(join(folder, 'in-the-way'), '')
  const diagnostics: Diagnostic[] = []
  const onDiagnostic = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic)
  const store = createVerdictFile({ file: join(folder, 'in-the-way/verdicts.json'), onDiagnostic })
  void store.set('a', legacy)
  expect(store.get('a')).toBeUndefined()
  expect(diagnostics.map(({ code }) => code)).toEqual(['verdict-not-kept'])
})

test('it does not grow without end', () => {
  const store = createVerdictFile({ file, onDiagnostic: undefined })
  const verdicts = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`old-${index}`, legacy]))
  void store.set('a', legacy)
  writeFileSync(file, JSON.stringify({ version: 1, verdicts }))
  void store.set('a', modern)
  const { verdicts: kept } = JSON.parse(readFileSync(file, 'utf8')) as { readonly verdicts: object }
  expect(Object.keys(kept)).toHaveLength(1_000)
  expect(store.get('a')).toMatchObject({ era: 'modern' })
})

test('a pipe in its place is not read, since nobody may ever write to it', async () => {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const regular = createVerdictFile({ file, onDiagnostic: undefined })
  void regular.set('a', modern)
  // what a read of it would give
  const writer = spawn('sh', ['-c', 'exec cat "$1" >"$0"', pipe, file])
  const closed = once(writer, 'close')
  expect(createVerdictFile({ file: pipe, onDiagnostic: undefined }).get('a')).toBeUndefined()
  writer.kill()
  await closed
})
