import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@atenea/mcpcompat'
import { afterAll, describe, expect, test } from 'vitest'
import { describeFailure, runVector } from '../src/vectors/run-vectors.ts'
import { parseVectorFile, type Vector, VectorFileError } from '../src/vectors/vector-file.ts'

const endOf = (session: string): JsonObject => ({
  server: 'dual',
  httpMethod: 'DELETE',
  headers: { 'mcp-session-id': session },
  body: null,
})
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

const morePath = fileURLToPath(new URL('../fixtures/vectors/more.json', import.meta.url))
const more = parseVectorFile(readFileSync(morePath, 'utf8'))

describe('corners that those vectors leave out', () => {
  test('they are of every kind, and each has its own id', () => {
    const kindsOf = (vectors: readonly Vector[]): readonly string[] =>
      [...new Set(vectors.map((vector) => vector.kind))].toSorted()
    expect(kindsOf(more.vectors)).toEqual(kindsOf(file.vectors))
    expect(new Set(more.vectors.map((vector) => vector.id)).size).toBe(more.vectors.length)
  })

  test.each(more.vectors.map((vector) => ({ ...vector, covers: vector.requirements.join(', ') })))(
    '$id $kind ($covers): $note',
    (vector) => {
      const outcome = runVector(vector, more)
      expect(outcome.passed ? '' : describeFailure(vector, outcome)).toBe('')
    },
  )

  test('none of them passes with something else in its expectation', () => {
    const changed = [...file.vectors, ...more.vectors].map((vector) => ({
      ...vector,
      expect: { ...vector.expect, other: 1 },
    }))
    expect(changed.filter((vector) => runVector(vector, more).passed)).toEqual([])
  })
})

describe('the runner', () => {
  const one = (changes: Partial<Vector>): Vector => {
    const vector = { id: 'X-1', kind: 'tool_name', input: { name: 'a b' }, expect: { conforming: false }, ...changes }
    const [only] = parseVectorFile(JSON.stringify({ format: 1, vectors: [vector] })).vectors
    if (only === undefined) throw new Error('no vector')
    return only
  }

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

  test.each([
    ['jsonrpc_classify', { message: { jsonrpc: '2.0', id: 1, result: {} } }, { kind: 'response' }, true],
    ['jsonrpc_classify', { message: { jsonrpc: '2.0', id: 1, method: 'x' } }, { kind: 'response' }, false],
    ['next_page', { result: {} }, { more: false, cursor: null }, true],
    ['next_page', { result: { nextCursor: 'a' } }, { more: true, cursor: null }, false],
    ['http_validate', { ...endOf('sess-1') }, { outcome: 'legacy' }, true],
    ['http_validate', { ...endOf('sess-1') }, { outcome: 'accepted', status: 200 }, true],
    ['http_validate', { ...endOf('sess-1') }, { outcome: 'legacy', status: 202 }, false],
    ['http_validate', { ...endOf('gone') }, { outcome: 'legacy' }, false],
  ])('where the format leaves a form open, %s %j may be %j: %s', (kind, input, expected, passed) => {
    expect(runVector(one({ kind, input, expect: expected }), file).passed).toBe(passed)
  })

  test('keys that look like numbers are read in the order in which they stand', () => {
    const ask = (key: string): string => `"${key}":{"method":"roots/list"}`
    const text = `{"format":1,"vectors":[ {"id":"\\"[{,","kind":"a","input":{},"expect":{}} ,
      {"id":"b","kind":"result_parse","input":{"method":"tools/call","result":{"resultType":"input_required","inputRequests":{${ask('b')},${ask('10')},${ask('9')}}}},
       "expect":{"kind":"input_required","inputRequestKeys":["b","10","9"],"requestState":null}}]}`
    const parsed = parseVectorFile(text)
    expect(parsed.vectors.map((vector) => runVector(vector, parsed).passed)).toEqual([false, true])
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

  // Needs the build of mcpcompat and transport-http, as the root script makes it, and a Node that reads TypeScript.
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

  test('finds a file from where its caller stood, ahead of one with that name where it runs', () => {
    run('package.json', '{"format":1,"vectors":[]}')
    const env = { ...process.env, INIT_CWD: folder }
    const { status, stdout } = spawnSync(process.execPath, [script, 'package.json'], { encoding: 'utf8', env })
    expect([status, stdout]).toEqual([0, '0 passed, 0 failed\n'])
  })

  test('exits 2 for a malformed file and for none', () => {
    expect(run('bad.json', '{')).toMatchObject({ status: 2, stdout: '' })
    const missing = spawnSync(process.execPath, [script, join(folder, 'missing.json')], { encoding: 'utf8' })
    expect(missing.status).toBe(2)
    expect(missing.stderr).toContain('missing.json')
    expect(spawnSync(process.execPath, [script], { encoding: 'utf8' }).status).toBe(2)
  })
})
