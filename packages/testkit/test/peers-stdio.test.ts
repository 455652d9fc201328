import { legacyRevision, modernRevision } from '@atenea/mcpcompat'
import { createCallerContext } from '@atenea/mcpcompat/transport'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { connect, echo } from './_util/connecting.ts'
import { mark } from './_util/fixtures.ts'
import { processesWith, until } from './_util/processes.ts'

// Processes start slowly on a busy machine; these bounds only catch a hang.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

afterEach(async () => {
  await until(() => processesWith(mark).length === 0)
})

describe.each([
  ['sdk-v2', modernRevision, legacyRevision],
  ['sdk-v1', legacyRevision, legacyRevision],
  ['tmcp', modernRevision, legacyRevision],
])('our client and the stdio server of %s', (name, newest, legacy) => {
  test('find the right era, and talk', async () => {
    const { connecting, started } = connect(name)
    await using connection = await connecting
    expect(connection).toMatchObject({ observed: newest, server: { info: { name } } })
    expect(connection.verdict?.revision).toBe(newest)
    expect(started).toEqual(['first'])
    expect(await echo(connection, { text: '読🎉\u2028' })).toMatchObject({
      content: [{ type: 'text', text: '読🎉\u2028' }],
    })
    const list = await connection.call({ method: 'tools/list', params: {} }, createCallerContext())
    expect(list).toMatchObject({ kind: 'result', value: { tools: [{ name: 'echo' }] } })
  })

  test('talk legacy when told to', async () => {
    await using connection = await connect(name, [], { mode: 'legacy' }).connecting
    expect(connection.observed).toBe(legacy)
    expect(await echo(connection, { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] })
  })

  test('many calls at once get their own answers', async () => {
    await using connection = await connect(name).connecting
    const texts = Array.from({ length: 100 }, (_, index) => `text ${index}`)
    const answers = await Promise.all(texts.map(async (text) => await echo(connection, { text })))
    expect(answers.map((answer) => (answer as { content: { text: string }[] }).content[0]?.text)).toEqual(texts)
  })

  test('MS-LIFE-01: the server leaves when its input ends, without a signal', async () => {
    const { connecting } = connect(name, [], {}, { closeTimeoutMs: 10_000 })
    const connection = await connecting
    const started = performance.now()
    await connection[Symbol.asyncDispose]()
    expect(processesWith(mark)).toEqual([])
    // SIGTERM comes after 10 s.
    expect(performance.now() - started).toBeLessThan(9_000)
  })
})

describe('a pin', () => {
  test.each(['sdk-v2', 'tmcp'])('modern holds with %s', async (name) => {
    await using connection = await connect(name, [], { mode: 'modern' }).connecting
    expect(connection.observed).toBe(modernRevision)
  })

  test('modern is an error with a legacy server, and nothing is downgraded', async () => {
    await expect(connect('sdk-v1', [], { mode: 'modern' }).connecting).rejects.toMatchObject({ kind: 'protocol' })
  })
})
