import { JsonText } from '@atenea/mcpcompat'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readItems, withItems } from './list-items.ts'
import { listKinds, promptList, resourceList, templateList, toolList } from './list-kind.ts'
import { makeOffer, type OfferRules } from './offer.ts'

const good = '{"name":"good","inputSchema":{"type":"object"}}'
const page = (items: string, more = ''): JsonText => new JsonText(`{ "tools" : [${items}]${more} }`)

describe('B7: items of a list', () => {
  test('are taken as they stand, whatever is between them', () => {
    const { items, dropped } = readItems(
      toolList,
      page(` ${good} ,\n\t{ "x":1e400, "name":"b" ,"inputSchema":{"type":"object"}} `),
    )
    expect(dropped).toEqual([])
    expect(items.map(({ key, text }) => [key, text.text])).toEqual([
      ['good', good],
      ['b', '{ "x":1e400, "name":"b" ,"inputSchema":{"type":"object"}}'],
    ])
  })

  test('of parsed results are the same', () => {
    const parsed = { tools: [{ name: 'good', inputSchema: { type: 'object' } }, { name: 7 }] }
    const { items, dropped } = readItems(toolList, parsed)
    expect(items.map(({ text }) => text.text)).toEqual([good])
    expect(dropped).toEqual([{ name: '', reason: 'it has no name' }])
  })

  test.each([
    [toolList, '{"tools":null}'],
    [toolList, '{"tools":{"0":1}}'],
    [toolList, '{"tools":"[]"}'],
    [promptList, '{"tools":[]}'],
    [resourceList, '{}'],
  ])('that are no list are one fault and no crash: %j %s', (kind, text) => {
    expect(readItems(kind, new JsonText(text))).toEqual({
      items: [],
      dropped: [{ name: '', reason: `the answer has no array ${kind.member}` }],
    })
  })

  test.each([
    [promptList, '{"name":"p"}', '{"name":""}'],
    [resourceList, '{"uri":"x://1"}', '{"name":"n"}'],
    [templateList, '{"uriTemplate":"x://{a}"}', '{"uri":"x://1"}'],
  ])('of $noun lists need their own key', (kind, fine, bad) => {
    const { items, dropped } = readItems(kind, new JsonText(`{"${kind.member}":[${fine},${bad}]}`))
    expect(items).toHaveLength(1)
    expect(dropped).toEqual([{ name: '', reason: `it has no ${kind.key}` }])
  })

  test('E13, D19: odd names are names, and reports stay short and well formed', () => {
    const names = ['__proto__', 'constructor', '\ud83d', 'x'.repeat(500)]
    const items = names.map((name) => `{"name":${JSON.stringify(name)},"inputSchema":0}`)
    const { dropped } = readItems(toolList, page(items.join(',')))
    expect(dropped.map(({ name }) => name)).toEqual(['__proto__', 'constructor', '\ufffd', 'x'.repeat(128)])
  })

  test('whatever else a backend lists, what is good is offered, byte for byte', () => {
    const anything = fc.oneof(
      fc.json(),
      fc.record({ name: fc.jsonValue(), inputSchema: fc.jsonValue() }).map((value) => JSON.stringify(value)),
    )
    const rules: OfferRules = { kind: toolList, allowed: undefined, nameOf: (own) => `a__${own}`, pins: undefined }
    fc.assert(
      fc.property(fc.array(anything), fc.array(anything), (before, after) => {
        const result = page([...before, good, ...after].join(','), ',"nextCursor":"1"')
        const read = readItems(toolList, result)
        expect(read.items.length + read.dropped.length).toBe(before.length + after.length + 1)
        const offer = makeOffer(read, rules)
        expect(offer.byName.get('a__good')?.text.text).toBe(good.replace('"good"', '"a__good"'))
        const shown = withItems(
          toolList,
          result,
          offer.items.map(({ text }) => text),
        )
        expect(shown).toMatchObject({ value: { nextCursor: '1' } })
      }),
    )
  })

  test('each kind has a method, a member and a notice of its own', () => {
    expect(listKinds.map(({ method, member, key, changed }) => [method, member, key, changed])).toEqual([
      ['tools/list', 'tools', 'name', 'notifications/tools/list_changed'],
      ['prompts/list', 'prompts', 'name', 'notifications/prompts/list_changed'],
      ['resources/list', 'resources', 'uri', 'notifications/resources/list_changed'],
      ['resources/templates/list', 'resourceTemplates', 'uriTemplate', 'notifications/resources/list_changed'],
    ])
  })
})
