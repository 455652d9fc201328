import { afterEach, describe, expect, test } from 'vitest'
import { cells, connected, endAll, resultOf } from './_util/rig.ts'

afterEach(endAll)

describe.each(cells)('a %s client of a %s backend', (front, back) => {
  test('BR-101, BR-201, BR-301, BR-307: gets what a call leads to', async () => {
    const { client, backend } = await connected(front, back)
    const id = client.send('tools/call', { name: 'a', arguments: { x: 1 } })
    const request = await backend.request('tools/call')
    expect(request.value.params).toMatchObject({ name: 'a', arguments: { x: 1 } })
    backend.wire.write(resultOf(request.value.id, { content: [{ type: 'text', text: 'hi' }] }))
    const answer = await client.answerTo(id)
    expect(answer.value.result).toMatchObject({ content: [{ type: 'text', text: 'hi' }] })
    expect('resultType' in (answer.value.result ?? {})).toBe(front === 'modern')
  })
})
