import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { metaKey } from '@atenea/mcpcompat/transport'
import { cells, connected, endAll, metaIn } from './_util/rig.ts'

afterEach(endAll)

const capabilities = `"_meta":{"z.z/last":1e400,"${metaKey.protocolVersion}":"2026-07-28","${metaKey.clientCapabilities}":{},"a.b/first":{"10":1,"2":9007199254740993}}`
const plainMeta = '"_meta":{"z.z/last":1e400,"a.b/first":{"10":1,"2":9007199254740993}}'

const argumentsText =
  '"arguments":{"z":1.10,"big":123456789012345678901234567890,"a":[1,  2],"10":1,"2":"\\u00e9\\ud83d\\ude00","nested":{"b":-0.0,"a":null}}'

const contentText =
  '"content":[{"type":"text","text":"x","annotations":{"z":1,"a":2},"_meta":{"k":1}},{"type":"hologram","voxels":[1.0,2E5]},{"type":"image","data":"QUJD","mimeType":"image/png"}],"structuredContent":{"n":123456789012345678901234567890,"10":1,"2":2},"isError":true,"x-unknown":{"z":1,"a":[]}'

/** JSON as programs write it: numbers beyond 2^53 and with more digits than needed, keys twice, escapes, white space between tokens. */
const jsonText = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom('null', 'true', '-0', '1.0', '1E400', '9007199254740993', '-12345678901234567890.10', '""'),
    fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\u0041\\ud83d\\ude00\\/"', '"\\u2028 \\u0000"', '"\u2028"'),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(' , ')}]`),
    fc
      .array(fc.tuple(fc.constantFrom('"a"', '"10"', '"2"', '"__proto__"', '"\\u0061"', '""'), tie('value')), {
        maxLength: 4,
      })
      .map((members) => `{ ${members.map(([key, value]) => `${key}:\t${value}`).join(',')}}`),
  ),
})).value

describe.each(cells)('a %s client of a %s backend', (front, back) => {
  test('F1, F2: arguments and results arrive character by character', async () => {
    const { client, backend } = await connected(front, back)
    const meta = front === 'modern' ? capabilities : plainMeta
    client.write(`{"jsonrpc":"2.0","id":"one","method":"tools/call","params":{"name":"t",${argumentsText},${meta}}}`)
    const request = await backend.request('tools/call')
    expect(request.text).toContain(argumentsText)
    expect(request.text).toContain('"z.z/last":1e400')
    expect(request.text).toContain('"a.b/first":{"10":1,"2":9007199254740993}')
    backend.wire.write(
      `{"jsonrpc":"2.0","id":${String(request.value.id)},"result":{${contentText},"_meta":{"q.q/r":9007199254740993}${back === 'modern' ? ',"resultType":"complete"' : ''}}}`,
    )
    const { text } = await client.next(({ id }) => id === 'one')
    expect(text).toContain(contentText)
    expect(text).toContain('"q.q/r":9007199254740993')
  })

  test('F1: definitions of tools arrive with everything in them', async () => {
    const { client, backend } = await connected(front, back)
    const tools =
      '"tools":[{"name":"t","title":"T","description":"d","inputSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}},"$schema":"http://json-schema.org/draft-07/schema#"},"outputSchema":{"type":"object","x-1":1},"annotations":{"readOnlyHint":true,"later":1},"icons":[{"src":"data:image/png;base64,AA"}],"_meta":{"a":1},"x-1":{"b":1,"a":2}}]'
    const id = client.send('tools/list')
    const request = await backend.request('tools/list')
    backend.wire.write(
      `{"jsonrpc":"2.0","id":${String(request.value.id)},"result":{${tools},"nextCursor":"n","x-2":1${back === 'modern' ? ',"resultType":"complete","ttlMs":0,"cacheScope":"private"' : ''}}}`,
    )
    const { text } = await client.answerTo(id)
    expect(text).toContain(tools)
    expect(text).toContain('"x-2":1')
  })

  test('F1: an error keeps its code, its words and its data', async () => {
    const { client, backend } = await connected(front, back)
    const id = client.send('tools/call', { name: 't', arguments: {} })
    const request = await backend.request('tools/call')
    const error = '{"code":1234,"message":"what\\nhappened é","data":{"z":123456789012345678901234567890,"a":[{}]}}'
    backend.wire.write(`{"jsonrpc":"2.0","id":${String(request.value.id)},"error":${error}}`)
    expect((await client.answerTo(id)).text).toContain(`"error":${error}`)
  })

  test('F1: progress and log messages keep what is in them', async () => {
    const { client, backend } = await connected(front, back)
    client.send('tools/call', { name: 't', arguments: {} }, { progressToken: 'p', [metaKey.logLevel]: 'debug' })
    const request = await backend.request('tools/call')
    const token = metaIn(request)['progressToken'] as number
    const data = '"data":{"z":123456789012345678901234567890,"a":1}'
    backend.wire.write(
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1,"total":123456789012345678901234567890,"x-1":1,"_meta":{"b":1,"a":2}}}`,
      `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error",${data}}}`,
    )
    const progress = await client.next(({ method }) => method === 'notifications/progress')
    expect(progress.text).toContain('"progress":1,"total":123456789012345678901234567890,"x-1":1,"_meta":{"b":1,"a":2}')
    expect(progress.text).toContain('"progressToken":"p"')
    const log = await client.next(({ method }) => method === 'notifications/message')
    expect(log.text).toContain(data)
  })

  test('F1: whatever arguments and results are, they arrive as they were written', async () => {
    const { client, backend } = await connected(front, back)
    let id = 1_000
    await fc.assert(
      fc.asyncProperty(jsonText, jsonText, async (given, told) => {
        id++
        const meta = front === 'modern' ? `,${capabilities}` : ''
        const args = `"arguments":{"v":${given}}`
        client.write(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"t",${args}${meta}}}`)
        const request = await backend.request('tools/call')
        expect(request.text).toContain(args)
        const type = back === 'modern' ? ',"resultType":"complete"' : ''
        const content = `"content":[],"structuredContent":{"v":${told}}`
        backend.wire.write(`{"jsonrpc":"2.0","id":${String(request.value.id)},"result":{${content}${type}}}`)
        expect((await client.answerTo(id)).text).toContain(content)
      }),
      { numRuns: 100 },
    )
  })

  test('E14: a member that was given twice is not passed on', async () => {
    const { client, backend } = await connected(front, back)
    const meta = front === 'modern' ? `,${capabilities}` : ''
    client.write(
      `{"jsonrpc":"2.0","id":"one","method":"tools/call","params":{"name":"allowed","name":"denied","arguments":{}${meta}}}`,
    )
    const { error } = (await client.next(({ id }) => id === 'one')).value
    expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('name') })
    expect((await backend.wire.rest()).filter(({ method }) => method === 'tools/call')).toEqual([])
  })
})
