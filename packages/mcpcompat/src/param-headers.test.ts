import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { HeaderPlan } from './contract/dispatcher.ts'
import type { JsonObject, JsonValue } from './jsonrpc/json.ts'
import { paramHeaderFault, paramHeaders, planHeaders } from './param-headers.ts'

const annotated: JsonObject = { type: 'string', 'x-mcp-header': 'V' }
const property = (name: string, schema: JsonValue): JsonObject => ({ type: 'object', properties: { [name]: schema } })

function planOf(schema: JsonObject): HeaderPlan {
  const planned = planHeaders(schema)
  if (!planned.ok) throw new Error(planned.faults.join('; '))
  return planned.plan
}

describe('annotations that count', () => {
  test.each([
    ['string', 'Region'],
    ['integer', 'Priority'],
    ['boolean', 'DryRun'],
    ['string', "!#$%&'*+-.^_`|~09azAZ"],
  ] as const)('MH-XMH-01, MH-XMH-04, MH-XMH-06: a parameter of type %s as %s', (type, name) => {
    expect(planOf(property('p', { type, 'x-mcp-header': name })).declarations).toEqual([
      { path: ['p'], header: `Mcp-Param-${name}`, type },
    ])
  })

  test('MH-XMH-08: any chain of properties, whatever the names and the types between', () => {
    const schema = property('properties', {
      properties: { items: { properties: { __proto__x: { ...annotated, default: 'd' } } } },
    })
    expect(planOf(schema).declarations).toEqual([
      { path: ['properties', 'items', '__proto__x'], header: 'Mcp-Param-V', type: 'string' },
    ])
  })

  test('a property named __proto__ is a property', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string","x-mcp-header":"P"}}}',
    ) as JsonObject
    const plan = planOf(schema)
    expect(plan.declarations[0]?.path).toEqual(['__proto__'])
    expect(paramHeaders(plan, JSON.parse('{"__proto__":"x"}') as JsonObject)).toEqual({ 'Mcp-Param-P': 'x' })
    expect(paramHeaders(plan, {})).toEqual({})
  })

  test.each<[JsonObject, string]>([
    [property('x-mcp-header', { type: 'string' }), 'a property of that name'],
    [{ type: 'object', $defs: { 'x-mcp-header': { type: 'string' } } }, 'a definition of that name'],
    [{ type: 'object', patternProperties: { 'x-mcp-header': {} } }, 'a pattern of that name'],
    [{ type: 'object', dependentSchemas: { 'x-mcp-header': {} } }, 'a dependent schema of that name'],
    [{ type: 'object', required: ['x-mcp-header'] }, 'a name in a list'],
    [property('o', { type: 'object', default: annotated }), 'default'],
    [property('o', { const: annotated }), 'const'],
    [property('o', { enum: [annotated, [annotated]] }), 'enum'],
    [property('o', { examples: [annotated] }), 'examples'],
    [property('o', { 'x-ours': annotated }), 'a keyword that is not known'],
    [property('o', { dependencies: { a: ['x-mcp-header'] } }), 'a dependency on names'],
    [property('o', true), 'a boolean schema'],
    [{ type: 'object', properties: [annotated] }, 'properties that are no map'],
    [{}, 'nothing at all'],
  ])('A-16: %j has none (%s)', (schema) => {
    expect(planHeaders(schema)).toEqual({ ok: true, plan: { declarations: [] } })
  })
})

describe('annotations that make a tool invalid', () => {
  test.each<[JsonValue, string]>([
    ['', 'MH-XMH-03: empty'],
    ['A B', 'MH-XMH-04: a blank'],
    ['Ré', 'MH-XMH-04: another letter'],
    ['X\r\nY', 'MH-XMH-04: a line end'],
    ['X\n', 'MH-XMH-04: a line end at the end'],
    ['a:b', 'a colon'],
    ['a/b', 'a slash'],
    ['a@b', 'an at sign'],
    ['"a"', 'quotes'],
    ['{a}', 'braces'],
    ['\u007f', 'DEL'],
    [null, 'MH-XMH-03: null'],
    [5, 'MH-XMH-03: a number'],
    [['A'], 'MH-XMH-03: an array'],
    [{}, 'MH-XMH-03: an object'],
  ])('the name %j (%s)', (name) => {
    expect(planHeaders(property('p', { type: 'string', 'x-mcp-header': name })).ok).toBe(false)
  })

  test.each<[JsonValue | undefined, string]>([
    ['number', 'A-15'],
    ['object', ''],
    ['array', ''],
    ['null', ''],
    ['String', 'case counts'],
    [['string'], 'A-15: a union of one'],
    [['string', 'null'], 'A-15: a union'],
    [undefined, 'A-15: no type'],
    [null, ''],
  ])('MH-XMH-06: the type %j %s', (type) => {
    const schema = { 'x-mcp-header': 'V', ...(type !== undefined && { type }) }
    expect(planHeaders(property('p', schema)).ok).toBe(false)
  })

  test('A-15: enum and const say nothing about the type', () => {
    expect(planHeaders(property('p', { enum: ['a'], 'x-mcp-header': 'V' })).ok).toBe(false)
    expect(planHeaders(property('p', { const: 'a', 'x-mcp-header': 'V' })).ok).toBe(false)
  })

  test.each<[JsonObject, string]>([
    [{ type: 'object', 'x-mcp-header': 'V' }, 'the root'],
    [property('l', { type: 'array', items: annotated }), 'items'],
    [property('l', { type: 'array', items: [annotated] }), 'items of earlier drafts'],
    [property('l', { type: 'array', items: property('p', annotated) }), 'properties below items'],
    [property('l', { prefixItems: [{}, annotated] }), 'prefixItems'],
    [property('l', { contains: annotated }), 'contains'],
    [property('l', { additionalItems: annotated }), 'additionalItems'],
    [property('l', { unevaluatedItems: annotated }), 'unevaluatedItems'],
    [{ oneOf: [property('p', annotated)] }, 'oneOf'],
    [{ anyOf: [property('p', annotated)] }, 'anyOf'],
    [{ allOf: [property('p', annotated)] }, 'allOf'],
    [{ not: property('p', annotated) }, 'not'],
    [{ if: property('p', annotated) }, 'if'],
    [{ [`th${'en'}`]: property('p', annotated) }, 'then'],
    [{ else: property('p', annotated) }, 'else'],
    [{ $defs: { d: annotated }, properties: { p: { $ref: '#/$defs/d' } } }, 'behind $ref'],
    [{ $defs: { d: property('p', annotated) } }, '$defs that nothing refers to'],
    [{ definitions: { d: annotated } }, 'definitions'],
    [{ additionalProperties: annotated }, 'additionalProperties'],
    [{ unevaluatedProperties: annotated }, 'unevaluatedProperties'],
    [{ patternProperties: { '^a': annotated } }, 'patternProperties'],
    [{ propertyNames: annotated }, 'propertyNames'],
    [{ dependentSchemas: { a: property('p', annotated) } }, 'dependentSchemas'],
    [{ dependencies: { a: property('p', annotated) } }, 'dependencies'],
    [property('p', { contentSchema: annotated }), 'contentSchema'],
    [property('p', { anyOf: [annotated] }), 'anyOf of a property'],
  ])('MH-XMH-09: %j (%s)', (schema) => {
    expect(planHeaders(schema).ok).toBe(false)
  })

  test('MH-XMH-05: the same name twice, also in other case and at another depth', () => {
    const planned = planHeaders({
      properties: {
        a: { type: 'string', 'x-mcp-header': 'Region' },
        o: { properties: { b: { type: 'integer', 'x-mcp-header': 'REGION' } } },
      },
    })
    if (planned.ok) throw new Error('it is valid')
    expect(planned.faults).toEqual(['x-mcp-header "REGION" is used more than once'])
  })

  test.each([[null], ['x'], [[]], [undefined], [5]])('MC-TOOL-04: the schema %j', (schema) => {
    expect(planHeaders(schema)).toMatchObject({ ok: false, faults: ['inputSchema is not an object'] })
  })

  test('B7: of a list only the tools with a bad annotation are dropped, each with its reason', () => {
    const tools = [
      ['good', { type: 'string', 'x-mcp-header': 'Good' }],
      ['empty', { type: 'string', 'x-mcp-header': '' }],
      ['number', { type: 'number', 'x-mcp-header': 'N' }],
      ['array', { type: 'array', items: { type: 'string', 'x-mcp-header': 'I' } }],
      ['plain', { type: 'string' }],
    ] as const
    const judged = tools.map(([name, schema]) => [name, planHeaders(property('p', schema))] as const)
    expect(judged.filter(([, planned]) => planned.ok).map(([name]) => name)).toEqual(['good', 'plain'])
    expect(judged.flatMap(([name, planned]) => (planned.ok ? [] : [`${name}: ${planned.faults.join()}`]))).toEqual([
      'empty: x-mcp-header "" of property "p" is not a header name token',
      'number: x-mcp-header "N" of property "p" needs the type string, integer or boolean, not "number"',
      'array: x-mcp-header "I" does not stand on a property that "properties" keys alone lead to',
    ])
  })
})

describe('hostile schemas', () => {
  test('depth 10,000: right answer, no stack overflow', () => {
    let schema: JsonObject = { ...annotated }
    for (let depth = 0; depth < 10_000; depth++) schema = { properties: { a: schema } }
    expect(planOf(schema).declarations[0]?.path).toHaveLength(10_000)
    expect(planHeaders({ items: schema }).ok).toBe(false)
  })

  test('an annotation on each of 10,000 levels is refused before its paths fill the memory', () => {
    let schema: JsonObject = { ...annotated }
    for (let depth = 0; depth < 10_000; depth++) {
      schema = { type: 'string', 'x-mcp-header': `H${depth}`, properties: { a: schema } }
    }
    const planned = planHeaders({ properties: { a: schema } })
    if (planned.ok) throw new Error('it is valid')
    expect(planned.faults[0]).toContain('more than 256')
    const few = (count: number): JsonObject => ({
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string', 'x-mcp-header': `H${index}` }]),
      ),
    })
    expect([planHeaders(few(256)).ok, planHeaders(few(257)).ok]).toEqual([true, false])
  })

  test('a schema ten times as wide takes about ten times as long', () => {
    const wide = (count: number): JsonObject => ({
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`p${index}`, { anyOf: [{ type: 'string' }, { items: {} }] }]),
      ),
    })
    const time = (schema: JsonObject): number => {
      const start = performance.now()
      planHeaders(schema)
      return performance.now() - start
    }
    const [small, large] = [wide(20_000), wide(200_000)]
    time(small)
    const base = Math.max(1, Math.min(time(small), time(small), time(small)))
    expect(Math.min(time(large), time(large))).toBeLessThan(base * 60)
  })

  test('no JSON value makes it throw', () => {
    const keyword = fc.constantFrom('properties', 'items', 'x-mcp-header', 'type', 'anyOf', '$defs', 'a', '__proto__')
    const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'medium' },
        fc.jsonValue({ maxDepth: 2 }),
        fc.constantFrom('string', 'integer', 'V', ''),
        fc.dictionary(keyword, tie('schema')),
        fc.array(tie('schema'), { maxLength: 3 }),
      ),
    }))
    fc.assert(
      fc.property(schema, (value) => {
        const planned = planHeaders(value as JsonValue)
        expect(planned.ok || planned.faults.length > 0).toBe(true)
      }),
    )
  })
})

const plan = planOf({
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    priority: { type: 'integer', 'x-mcp-header': 'Priority' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    where: { properties: { city: { type: 'string', 'x-mcp-header': 'City' } } },
  },
})

describe('the headers of a call', () => {
  test.each<[JsonValue | undefined, Record<string, string>, string]>([
    [
      { region: 'eu', priority: 3, dry: false, where: { city: 'Rom' } },
      { Region: 'eu', Priority: '3', Dry: 'false', City: 'Rom' },
      'MH-VAL-09: all',
    ],
    [{}, {}, 'MH-VAL-06: nothing given'],
    [undefined, {}, 'MH-VAL-06: no arguments'],
    [{ region: null, where: null }, {}, 'MH-VAL-05, MH-VAL-06: null'],
    [{ region: '' }, { Region: '=?base64??=' }, 'A-12: empty is a value'],
    [{ where: { city: 'Zürich' } }, { City: '=?base64?WsO8cmljaA==?=' }, 'MH-ENC-02'],
    [{ where: 'x', city: 'y' }, {}, 'MH-XMH-10: another path'],
    [{ where: [{ city: 'y' }] }, {}, 'MH-XMH-10: an array has no properties'],
    [{ priority: -0 }, { Priority: '0' }, 'A-18: minus zero'],
    [{ priority: -(2 ** 53 - 1) }, { Priority: '-9007199254740991' }, 'MH-XMH-07: the smallest'],
    [
      { priority: 'high', region: 7, dry: 'yes' },
      { Priority: 'high', Region: '7', Dry: 'yes' },
      'A-18: by actual type',
    ],
    [{ priority: {}, region: ['a'], dry: {} }, {}, 'A-18: objects and arrays give none'],
    [{ region: 1.5 }, {}, 'A-18: a fraction where no integer is declared'],
  ])('%j gives %j (%s)', (args, expected) => {
    const headers = Object.fromEntries(Object.entries(expected).map(([name, value]) => [`Mcp-Param-${name}`, value]))
    expect(paramHeaders(plan, args as JsonObject)).toEqual(headers)
  })

  test.each([[1.5], [2 ** 53], [-(2 ** 53)], [1e21]])('A-18, MH-XMH-07: the integer %d is refused', (priority) => {
    expect(() => paramHeaders(plan, { priority })).toThrow(expect.objectContaining({ reason: 'unsafe-integer' }))
  })

  test('own members only: nothing is read from a prototype', () => {
    const inherited = planOf(property('constructor', property('name', annotated)))
    expect(paramHeaders(inherited, {})).toEqual({})
    expect(paramHeaderFault(inherited, {}, {})).toBeUndefined()
  })
})

describe('headers compared with the body', () => {
  const fault = (args: JsonValue | undefined, headers: Record<string, string>): number | undefined =>
    paramHeaderFault(plan, args, headers)?.code

  test.each<[JsonValue | undefined, Record<string, string>, string]>([
    [{ region: 'eu' }, { 'mcp-param-region': 'eu' }, 'MH-VAL-03: equal'],
    [{ region: 'eu' }, { 'mcp-param-region': ' =?base64?ZXU=?= ' }, 'MH-ENC-05: encoded'],
    [{ region: '' }, { 'mcp-param-region': '' }, 'A-12: empty'],
    [{ region: null }, {}, 'MH-VAL-05: null'],
    [undefined, {}, 'MH-VAL-05: no arguments'],
    [{ priority: 42 }, { 'mcp-param-priority': '42' }, 'an integer'],
    [{ priority: 42 }, { 'mcp-param-priority': '42.0' }, 'MH-VAL-07: as numbers'],
    [{ priority: 42 }, { 'mcp-param-priority': '042.00' }, 'MH-VAL-07: as numbers'],
    [{ priority: 0 }, { 'mcp-param-priority': '-0' }, 'MH-VAL-07: minus zero'],
    [{ priority: -7 }, { 'mcp-param-priority': '=?base64?LTc=?=' }, 'encoded digits'],
    [{ priority: 1.5 }, { 'mcp-param-priority': '1.5' }, 'the arguments are judged elsewhere'],
    [{ dry: true }, { 'mcp-param-dry': 'true' }, 'a boolean'],
    [{ region: 7 }, { 'mcp-param-region': '7' }, 'A-18: by actual type'],
    [{ region: {}, priority: [] }, {}, 'A-18: no header can hold them'],
    [{ region: 'eu' }, { 'mcp-param-region': 'eu', 'mcp-param-other': 'x' }, 'MH-INT-01: one that is not known'],
  ])('%j agrees with %j (%s)', (args, headers) => {
    expect(fault(args as JsonValue, headers)).toBeUndefined()
  })

  test.each<[JsonValue | undefined, Record<string, string>, string]>([
    [{ region: 'eu' }, {}, 'MH-VAL-04: missing'],
    [{ dry: false }, {}, 'MH-VAL-04: false is a value'],
    [{ priority: 0 }, {}, 'MH-VAL-04: zero is a value'],
    [{ region: '' }, {}, 'MH-VAL-04: empty is a value'],
    [{ region: 'eu' }, { 'mcp-param-region': 'us' }, 'MH-VAL-03: different'],
    [{ region: 'eu' }, { 'mcp-param-region': 'EU' }, 'case'],
    [{ region: 'eu' }, { 'mcp-param-region': 'eu, eu' }, 'A-53: sent twice'],
    [{ region: 'é' }, { 'mcp-param-region': 'é' }, 'MH-VAL-08: raw'],
    [{ region: 'a' }, { 'mcp-param-region': '=?base64?YR==?=' }, 'MH-ENC-06: no canonical Base64'],
    [{ priority: 42 }, { 'mcp-param-priority': '43' }, 'another number'],
    [{ priority: 42 }, { 'mcp-param-priority': '42.5' }, 'another number'],
    [{ priority: 42 }, { 'mcp-param-priority': '4.2e1' }, 'A-18: another form of number'],
    [{ priority: 42 }, { 'mcp-param-priority': '0x2a' }, 'A-18: another form of number'],
    [{ priority: 42 }, { 'mcp-param-priority': '+42' }, 'A-18: another form of number'],
    [{ priority: 42 }, { 'mcp-param-priority': '42.' }, 'A-18: another form of number'],
    [{ priority: 42 }, { 'mcp-param-priority': '' }, 'empty is no zero'],
    [{ priority: 0 }, { 'mcp-param-priority': '' }, 'empty is no zero'],
    [{ priority: 1 }, { 'mcp-param-priority': '1.0000000000000000000001' }, 'not rounded'],
    [{ priority: 2 ** 53 - 1 }, { 'mcp-param-priority': '90071992547409910' }, 'not rounded'],
    [{ priority: '42' }, { 'mcp-param-priority': '42.0' }, 'A-18: a string is compared as a string'],
    [{ region: 42 }, { 'mcp-param-region': '42.0' }, 'A-18: numbers only where an integer is declared'],
    [{ dry: false }, { 'mcp-param-dry': 'False' }, 'MH-ENC-01: lower case'],
    [{ dry: true }, { 'mcp-param-dry': '1' }, 'not a boolean'],
    [{}, { 'mcp-param-region': 'eu' }, 'MH-VAL-01: nothing in the body says so'],
    [{ region: null }, { 'mcp-param-region': 'null' }, 'MH-VAL-01: nothing in the body says so'],
    [{ region: {} }, { 'mcp-param-region': '[object Object]' }, 'an object'],
    [{ where: { city: 'a' } }, { 'mcp-param-region': 'a' }, 'the header of another parameter'],
  ])('%j contradicts %j (%s)', (args, headers) => {
    expect(fault(args as JsonValue, headers)).toBe(-32020)
  })

  test('what a client sends, a server takes', () => {
    const argument = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.constant(null),
    )
    const args = fc.record(
      {
        region: argument,
        priority: argument,
        dry: argument,
        where: fc.record({ city: argument }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(args, (given) => {
        const sent = paramHeaders(plan, given)
        const received = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name.toLowerCase(), value]))
        expect(paramHeaderFault(plan, given, received)).toBeUndefined()
      }),
    )
  })

  test('an endless run of zeros takes linear time', () => {
    expect(fault({ priority: 1 }, { 'mcp-param-priority': `${'0'.repeat(1_000_000)}x` })).toBe(-32020)
    expect(
      fault({ priority: 1 }, { 'mcp-param-priority': `${'0'.repeat(1_000_000)}1.${'0'.repeat(1_000_000)}` }),
    ).toBeUndefined()
  })
})
