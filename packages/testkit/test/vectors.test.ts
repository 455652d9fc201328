import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { describeFailure, runVector } from '../src/vectors/run-vectors.ts'
import { parseVectorFile, type Vector, VectorFileError } from '../src/vectors/vector-file.ts'

const path = fileURLToPath(new URL('../fixtures/spec/vectors.json', import.meta.url))
const file = parseVectorFile(readFileSync(path, 'utf8'))

describe('the vectors of the specification', () => {
  test('there are 365 of 23 kinds', () => {
    expect(file.vectors.length).toBe(365)
    expect(new Set(file.vectors.map((vector) => vector.kind)).size).toBe(23)
  })

  test.each(file.vectors.map((vector) => ({ ...vector, covers: vector.requirements.join(', ') })))(
    '$id $kind ($covers): $note',
    (vector) => {
      const outcome = runVector(vector, file)
      expect(outcome.passed ? '' : describeFailure(vector, outcome)).toBe('')
    },
  )
})

describe('the runner', () => {
  const one = (changes: Partial<Vector>): Vector => ({
    id: 'X-1',
    kind: 'tool_name',
    input: { name: 'a b' },
    expect: { conforming: false },
    requirements: [],
    note: '',
    ...changes,
  })

  test('a case that expects something else fails, with both sides', () => {
    const vector = one({ expect: { conforming: true } })
    const outcome = runVector(vector, file)
    if (outcome.passed) throw new Error('it passed')
    expect(describeFailure(vector, outcome)).toBe(
      'X-1 tool_name: expected {"conforming":true} actual {"conforming":false}',
    )
  })

  test('a member that the code does not give fails', () => {
    expect(runVector(one({ expect: { conforming: false, other: 1 } }), file).passed).toBe(false)
  })

  test('an unknown kind fails', () => {
    expect(runVector(one({ kind: 'toString' }), file)).toEqual({
      passed: false,
      actual: 'unknown kind "toString"',
    })
  })

  test('an input that does not fit its kind fails', () => {
    expect(runVector(one({ input: {} }), file)).toMatchObject({
      passed: false,
      actual: 'threw: input.name is not a string',
    })
  })

  test.each([
    ['{', /^not JSON/],
    ['[]', /not a JSON object/],
    ['{"format":2,"vectors":[]}', /format is 2/],
    ['{"format":1}', /vectors is not an array/],
    ['{"format":1,"vectors":[1]}', /vectors\[0\] is not an object/],
    ['{"format":1,"vectors":[{"id":"a"}]}', /vectors\[0\] \(a\)\.kind/],
    ['{"format":1,"vectors":[],"fixtures":{"servers":{"a":{"extends":"a"}}}}', /extends itself/],
    ['{"format":1,"vectors":[],"fixtures":{"servers":{"a":{"extends":"b"}}}}', /no server "b"/],
  ])('the file %s is refused', (text, reason) => {
    expect(() => parseVectorFile(text)).toThrow(VectorFileError)
    expect(() => parseVectorFile(text)).toThrow(reason)
  })
})

describe('the command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'atenea-vectors-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const script = fileURLToPath(new URL('../src/vectors/main.ts', import.meta.url))

  // Needs the build of mcpcompat, as the root script makes it, and a Node that reads TypeScript.
  const run = (name: string, text: string): { status: number | null; stdout: string; stderr: string } => {
    const target = join(folder, name)
    writeFileSync(target, text)
    return spawnSync(process.execPath, [script, target], { encoding: 'utf8' })
  }

  test('says what failed, then the count, and exits 1', () => {
    const vectors = [
      { id: 'A', kind: 'tool_name', input: { name: 'a' }, expect: { conforming: true } },
      { id: 'B', kind: 'tool_name', input: { name: 'a' }, expect: { conforming: false } },
    ]
    const { status, stdout } = run('some.json', JSON.stringify({ format: 1, vectors }))
    expect(stdout).toBe('B tool_name: expected {"conforming":false} actual {"conforming":true}\n1 passed, 1 failed\n')
    expect(status).toBe(1)
  })

  test('exits 0 when all pass', () => {
    expect(run('all.json', readFileSync(path, 'utf8'))).toMatchObject({ status: 0, stdout: '365 passed, 0 failed\n' })
  })

  test('exits 2 for a malformed file and for none', () => {
    expect(run('bad.json', '{')).toMatchObject({ status: 2, stdout: '' })
    const missing = spawnSync(process.execPath, [script, join(folder, 'missing.json')], { encoding: 'utf8' })
    expect(missing.status).toBe(2)
    expect(missing.stderr).toContain('missing.json')
    expect(spawnSync(process.execPath, [script], { encoding: 'utf8' }).status).toBe(2)
  })
})
