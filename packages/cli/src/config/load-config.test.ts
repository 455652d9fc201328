/* oxlint-disable no-template-curly-in-string -- such strings are what is tested */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { loadConfig } from './load-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const schema = z.strictObject({
  $schema: z.string().optional(),
  logLevel: z.enum(['silent', 'info']).optional(),
  limits: z.strictObject({ maxBodyBytes: z.int().min(1).optional() }).optional(),
  resources: z.array(z.strictObject({ uri: z.string(), text: z.string() })).optional(),
  names: z.record(z.string(), z.strictObject({ title: z.string() })).optional(),
})

const file = join(folder, 'atenea.json')

function load(text: string, environment: Record<string, string> = {}): Promise<unknown> {
  writeFileSync(file, text)
  return loadConfig({ file, schema, environment })
}

/** The message of the refusal, without the folder of this run. */
async function refusal(text: string, environment: Record<string, string> = {}): Promise<string> {
  const error: unknown = await load(text, environment).catch((reason: unknown) => reason)
  if (!(error instanceof Error)) throw new Error('it was accepted')
  return error.message.replaceAll(folder, '')
}

describe('configuration files', () => {
  test('comments, trailing commas, a byte-order mark and variables', async () => {
    const text = `\ufeff// a comment
{
  "$schema": "./config.schema.json",
  /* another */ "logLevel": "\${LEVEL:-info}",
  "resources": [{ "uri": "x:\${NAME}", "text": "\${EMPTY:-none} $5 $\${NAME}" },],
}`
    expect(await load(text, { NAME: 'a/${LEVEL}', EMPTY: '' })).toEqual({
      $schema: './config.schema.json',
      logLevel: 'info',
      resources: [{ uri: 'x:a/${LEVEL}', text: 'none $5 ${NAME}' }],
    })
  })

  test.each([
    [
      'an unknown key',
      '{\n  "logLevl": "info"\n}',
      '/atenea.json:2:3: unknown key "logLevl"; did you mean "logLevel"?',
    ],
    [
      'an unknown key below',
      '{"limits":{"maxBodyByte":1}}',
      '/atenea.json:1:12: unknown key "maxBodyByte"; did you mean "maxBodyBytes"?',
    ],
    [
      'an unknown key in a list',
      '{"resources":[{"uri":"a","text":"b"},\n{"uri":"a","txet":"b","text":""}]}',
      '/atenea.json:2:12: unknown key "txet"; did you mean "text"?',
    ],
    [
      'an unknown key of a named part',
      '{"names":{"a":{"title":"x","titel":"y"}}}',
      '/atenea.json:1:28: unknown key "titel"; did you mean "title"?',
    ],
    ['a key that nothing is near', '{"zzzzzzzz":1}', '/atenea.json:1:2: unknown key "zzzzzzzz"'],
    ['E13: __proto__', '{"__proto__":{"logLevel":"info"}}', '/atenea.json:1:2: unknown key "__proto__"'],
    ['E13: constructor', '{"constructor":1}', '/atenea.json:1:2: unknown key "constructor"'],
    [
      'a wrong type',
      '{"limits":{"maxBodyBytes":"1"}}',
      '/atenea.json:1:27: limits.maxBodyBytes: Invalid input: expected number',
    ],
    ['a wrong word', '{"logLevel":"loud"}', '/atenea.json:1:13: logLevel: Invalid option: expected one of'],
    [
      'a missing member',
      '{"resources":[{"uri":"a"}]}',
      '/atenea.json:1:15: resources.0.text: Invalid input: expected string',
    ],
    ['a root that is a list', '[]', '/atenea.json:1:1: Invalid input: expected object'],
    ['text that is not JSON', '{"a" 1}', '/atenea.json:1:6: this is not JSON: colon expected'],
    ['text that breaks off', '{"limits":{', '/atenea.json:1:12: this is not JSON: close brace expected'],
    ['a key twice', '{"logLevel":"info",\n"logLevel":"silent"}', '/atenea.json:2:1: the key "logLevel" is there twice'],
    [
      'a variable that is not set',
      '{"logLevel":"${NOPE}"}',
      '/atenea.json:1:13: logLevel: the variable NOPE is not set; set it, or write ${NOPE:-default}',
    ],
    ['nothing', '', '/atenea.json is empty'],
  ])('%s', async (_name, text, message) => {
    expect(await refusal(text)).toContain(message)
  })

  test('all faults are told at once', async () => {
    expect((await refusal('{"logLevl":"info","limit":{}}')).split('\n')).toEqual([
      '/atenea.json:1:2: unknown key "logLevl"; did you mean "logLevel"?',
      '/atenea.json:1:19: unknown key "limit"; did you mean "limits"?',
    ])
  })

  test('a file that is no UTF-8 is not read with other characters in it', async () => {
    writeFileSync(file, Buffer.from('{"names":{"caf\u00e9":{"title":"x"}}}', 'latin1'))
    await expect(loadConfig({ file, schema, environment: {} })).rejects.toThrow(/atenea\.json is not UTF-8/)
  })

  test.each([
    ['objects', '{"a":'],
    ['lists', '['],
  ])('%s as deep as only an attacker nests them are a fault with a place', async (_name, open) => {
    const text = open.repeat(100_000)
    expect(await refusal(text)).toBe(`/atenea.json:1:${open.length * 100 + 1}: nested deeper than 100 levels`)
    expect(await refusal(`{"logLevel":"${'['.repeat(200)}"}`)).toContain('logLevel: Invalid option')
  })

  test('a file that is not there, a folder, a huge file', async () => {
    await expect(loadConfig({ file: join(folder, 'none.json'), schema, environment: {} })).rejects.toThrow(
      /cannot read the configuration .*none\.json: ENOENT/,
    )
    await expect(loadConfig({ file: folder, schema, environment: {} })).rejects.toThrow(
      /cannot read the configuration .*EISDIR/,
    )
    await expect(load(' '.repeat(1024 * 1024 + 1))).rejects.toThrow('has more than 1048576 bytes')
  })
})
