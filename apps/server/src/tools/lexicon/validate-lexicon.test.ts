import { schemas } from '@atproto/api'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxFindings, validateLexicon } from './validate-lexicon.ts'

const id = 'com.example.thing'

/** A lexicon of these definitions. */
function lexicon(defs: unknown): unknown {
  return { lexicon: 1, id, defs }
}

/** A lexicon whose record has these properties. */
function record(properties: unknown, more: object = {}): unknown {
  return lexicon({ main: { type: 'record', key: 'tid', record: { type: 'object', properties, ...more } } })
}

const inRecord = 'defs.main.record.properties'

/** The findings as `path: message`. */
function errorsOf(document: unknown): string[] {
  return validateLexicon(document).errors.map(({ path, message }) => `${path}: ${message}`)
}

function warningsOf(document: unknown): string[] {
  return validateLexicon(document).warnings.map(({ path, message }) => `${path}: ${message}`)
}

describe('valid lexicons', () => {
  test('every lexicon that the official client ships is valid, without a warning', () => {
    expect(schemas.length).toBeGreaterThan(300)
    const findings = schemas.flatMap((schema) => {
      // The client ships them with references in a form of its own.
      const { errors, warnings } = validateLexicon(JSON.parse(JSON.stringify(schema).replaceAll('"lex:', '"')))
      return [...errors, ...warnings].map(({ path, message }) => `${schema.id} ${path}: ${message}`)
    })
    expect(findings).toEqual([])
  })

  test.each([
    ['one definition', lexicon({ demo: { type: 'integer' } })],
    ['a record without properties', record({})],
    ['main of a type that is not primary', lexicon({ main: { type: 'string', maxLength: 10 } })],
    ['a token', lexicon({ demo: { type: 'token' } })],
    [
      'a literal key',
      lexicon({ main: { type: 'record', key: 'literal:self', record: { type: 'object', properties: {} } } }),
    ],
    ['a union without refs that is open', record({ any: { type: 'union', refs: [] } })],
    ['references to itself', record({ a: { type: 'ref', ref: '#b' }, c: { type: 'ref', ref: `${id}#b` } })],
  ])('%s', (_name, document) => {
    const withB = { ...(document as { defs: object }) }
    withB.defs = { ...withB.defs, b: { type: 'object', properties: {} } }
    expect(validateLexicon(withB)).toEqual({ valid: true, errors: [], warnings: [] })
  })

  test('an object inside an object is valid, and the warning says who refuses it', () => {
    const report = validateLexicon(record({ point: { type: 'object', properties: { x: { type: 'integer' } } } }))
    expect(report.valid).toBe(true)
    expect(report.warnings).toEqual([
      { path: `${inRecord}.point`, message: expect.stringContaining('TypeScript implementation refuses') },
    ])
  })

  test('a fault inside an inner object has the path of the document as it came', () => {
    const inner = {
      type: 'object',
      properties: { x: { type: 'nope' }, y: { type: 'array', items: { type: 'object', properties: { z: {} } } } },
    }
    expect(errorsOf(record({ point: inner })).toSorted()).toEqual([
      expect.stringContaining(`${inRecord}.point.properties.x.type: Expected one of`),
      `${inRecord}.point.properties.y.items.properties.z: Missing required key "type"`,
    ])
  })

  test('a permission set may lack title and detail, which users then do not see', () => {
    const permissions = [{ type: 'permission', resource: 'rpc', lxm: ['com.example.list'], inheritAud: true }]
    const report = validateLexicon(lexicon({ main: { type: 'permission-set', permissions } }))
    expect(report.valid).toBe(true)
    expect(report.warnings.map(({ message }) => message)).toEqual([
      'without title, users see no title when they are asked',
      'without detail, users see no detail when they are asked',
    ])
  })
})

describe('what is no lexicon', () => {
  test.each([
    ['a string', 'lexicon', ': a lexicon is a JSON object, but this is a string'],
    ['an array', [], ': a lexicon is a JSON object, but this is an array'],
    ['no version', { id, defs: { a: { type: 'token' } } }, 'lexicon: lexicon must be 1'],
    ['another version', { lexicon: 2, id, defs: { a: { type: 'token' } } }, 'lexicon: lexicon must be 1'],
    [
      'no id',
      { lexicon: 1, defs: { a: { type: 'token' } } },
      'id: id must be the NSID of the lexicon, but this is missing',
    ],
    [
      'an id that is no NSID',
      { lexicon: 1, id: 'one-two', defs: { a: { type: 'token' } } },
      'id: "one-two" is no NSID',
    ],
    ['a revision that is no integer', { lexicon: 1, id, revision: 1.5, defs: { a: { type: 'token' } } }, 'revision: '],
    ['no definitions', { lexicon: 1, id }, 'defs: defs must be an object of definitions, but this is missing'],
    ['an empty set of definitions', lexicon({}), 'defs: a lexicon needs at least one definition'],
  ])('%s', (_name, document, message) => {
    expect(errorsOf(document)).toEqual([expect.stringContaining(message)])
  })

  test.each([
    ['a name with a capital', { Upper: { type: 'token' } }, 'defs.Upper: the name of a definition'],
    ['a name with a hyphen', { 'a-b': { type: 'token' } }, 'defs.a-b: the name of a definition'],
    [
      'E13: __proto__ as a name',
      JSON.parse('{"__proto__":{"type":"token"}}'),
      'defs.__proto__: the name of a definition',
    ],
    [
      'a named ref',
      { demo: { type: 'ref', ref: '#demo' } },
      'defs.demo.type: ref cannot be the type of a named definition',
    ],
    ['a named union', { demo: { type: 'union', refs: [] } }, 'defs.demo.type: union cannot be the type'],
    ['a named unknown', { main: { type: 'unknown' } }, 'defs.main.type: unknown cannot be the type'],
    ['named params', { main: { type: 'params', properties: {} } }, 'defs.main.type: params cannot be the type'],
    [
      'a primary type that is not main',
      { demo: { type: 'query' } },
      'defs.demo.type: type query describes the whole file',
    ],
    ['a definition that is no object', { main: 5 }, 'defs.main: Expected object'],
    ['a definition without a type', { main: {} }, 'defs.main: Missing required key "type"'],
    [
      'a record without a key',
      { main: { type: 'record', record: { type: 'object', properties: {} } } },
      'defs.main: Missing required key "key"',
    ],
    [
      'a key that no record can have',
      { main: { type: 'record', key: 'literal:a b', record: { type: 'object', properties: {} } } },
      'defs.main.key: "a b" is no record key',
    ],
    ['a media type list', { main: { type: 'query', output: { encoding: 'a/b, c/d' } } }, 'defs.main.output.encoding: '],
    [
      'an error name of two words',
      { main: { type: 'query', errors: [{ name: 'Not Found' }] } },
      'defs.main.errors[0].name: the name of an error has no white space',
    ],
    [
      'a message that is an object',
      { main: { type: 'subscription', message: { schema: { type: 'object', properties: {} } } } },
      'defs.main.message.schema.type: ',
    ],
  ])('%s', (_name, defs, message) => {
    expect(errorsOf(lexicon(defs))).toEqual([expect.stringContaining(message)])
  })

  test.each([
    [
      'bounds that exclude each other',
      { type: 'string', minLength: 5, maxLength: 3 },
      '.minLength: minLength 5 is greater than maxLength 3',
    ],
    ['integer bounds', { type: 'integer', minimum: 2, maximum: 1 }, '.minimum: minimum 2 is greater than maximum 1'],
    ['a negative length', { type: 'bytes', maxLength: -1 }, '.maxLength: maxLength must not be negative'],
    ['a negative size', { type: 'blob', maxSize: -1 }, '.maxSize: maxSize must not be negative'],
    ['a fraction', { type: 'integer', minimum: 1.5 }, '.minimum: Expected integer'],
    ['an unknown format', { type: 'string', format: 'email' }, '.format: Expected one of'],
    [
      'default and const',
      { type: 'boolean', default: true, const: true },
      '.default: default and const exclude each other',
    ],
    [
      'a default outside enum',
      { type: 'string', enum: ['a'], default: 'b' },
      '.default: default is not one of the values',
    ],
    ['a default outside bounds', { type: 'integer', minimum: 1, default: 0 }, '.default: default is below minimum 1'],
    [
      'a const that is too long in UTF-8',
      { type: 'string', maxLength: 3, const: 'éé' },
      '.const: const is above maxLength 3',
    ],
    ['an empty enum', { type: 'integer', enum: [] }, '.enum: enum is empty'],
    ['half a glob', { type: 'blob', accept: ['image/*', 'text/ht*'] }, '.accept[1]: "text/ht*" is no media type'],
    [
      'a closed union of nothing',
      { type: 'union', refs: [], closed: true },
      '.refs: a closed union needs at least one ref',
    ],
    ['a reference that is none', { type: 'ref', ref: 'a b' }, '.ref: "a b" is no reference'],
    ['a reference with two fragments', { type: 'ref', ref: '#b#c' }, '.ref: "#b#c" is no reference'],
    [
      'a reference to nothing',
      { type: 'ref', ref: '#toke' },
      '.ref: there is no definition "toke" here; did you mean #token?',
    ],
    [
      'a reference to a token',
      { type: 'ref', ref: '#token' },
      '.ref: a ref cannot point to a definition of type token',
    ],
    [
      'a union of a string',
      { type: 'union', refs: ['#text'] },
      '.refs[0]: a union cannot point to a definition of type string',
    ],
    [
      'an array of arrays',
      { type: 'array', items: { type: 'array', items: { type: 'string' } } },
      '.items.type: Expected one of',
    ],
  ])('a property with %s', (_name, property, message) => {
    const document = record({ it: property }) as { defs: object }
    document.defs = { ...document.defs, token: { type: 'token' }, text: { type: 'string' } }
    expect(errorsOf(document)).toEqual([expect.stringContaining(`${inRecord}.it${message}`)])
  })

  test('E13: required names a property that only the prototype has', () => {
    expect(errorsOf(record({ a: { type: 'string' } }, { required: ['a', 'toString'] }))).toEqual([
      'defs.main.record.required: required names "toString", which properties does not have',
    ])
  })

  test('E13: a property __proto__', () => {
    expect(errorsOf(record(JSON.parse('{"__proto__":{"type":"string"}}')))).toEqual([
      `${inRecord}.__proto__: a property must not be called __proto__`,
    ])
  })

  test('one report names the faults of every definition and property', () => {
    const report = validateLexicon({
      lexicon: 1,
      id,
      defs: {
        main: {
          type: 'query',
          parameters: { type: 'params', properties: { a: { type: 'blob' }, b: { type: 'ref' } } },
          output: { encoding: 'application/json', schema: { type: 'object', properties: { c: { type: 'x' }, d: {} } } },
          errors: [{}],
        },
        other: { type: 'object', properties: { properties: { type: 'y' }, fine: { type: 'string' } } },
        last: { type: 'z' },
      },
    })
    expect(report.errors.map(({ path }) => path)).toEqual([
      'defs.main.parameters.properties.a.type',
      'defs.main.parameters.properties.b.type',
      'defs.main.output.schema.properties.c.type',
      'defs.main.output.schema.properties.d',
      'defs.main.errors[0]',
      'defs.other.properties.properties.type',
      'defs.last.type',
    ])
  })
})

describe('what is probably not meant', () => {
  test.each([
    [
      'a misspelt member',
      record({ a: { type: 'string', maxLenght: 3 } }),
      `${inRecord}.a.maxLenght: type string has no member "maxLenght", so readers ignore it; did you mean "maxLength"?`,
    ],
    ['a reserved name', record({ $x: { type: 'string' } }), `${inRecord}.$x: names that begin with $ are reserved`],
    [
      'nullable without a property',
      record({}, { nullable: ['b'] }),
      'defs.main.record.nullable[0]: nullable names "b"',
    ],
  ])('%s', (_name, document, warning) => {
    expect(validateLexicon(document).valid).toBe(true)
    expect(warningsOf(document)).toEqual([expect.stringContaining(warning)])
  })

  test('permissions that grant nothing', () => {
    const permissions = [
      { type: 'permission', resource: 'blob', accept: ['*/*'] },
      { type: 'permission', resource: 'repo', collection: [] },
      { type: 'permission', resource: 'repo', collection: ['org.other.post'] },
      { type: 'permission', resource: 'rpc', lxm: ['com.example.list'] },
      { type: 'permission', resource: 'rpc', lxm: ['com.example.list'], aud: '*', inheritAud: true },
    ]
    const document = lexicon({ main: { type: 'permission-set', title: 'T', detail: 'D', permissions } })
    expect(warningsOf(document).map((warning) => warning.slice('defs.main.permissions'.length))).toEqual([
      '[0]: services ignore permissions for other resources than repo and rpc',
      '[1].collection: collection must name at least one NSID',
      '[2].collection[0]: "org.other.post" is outside com.example.*, so this set cannot grant it',
      '[3]: an rpc permission needs either aud "*" or inheritAud true',
      '[4]: an rpc permission needs either aud "*" or inheritAud true',
    ])
  })
})

describe('hostile documents', () => {
  test('nesting is bounded', () => {
    const deep = JSON.parse('{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000))
    expect(errorsOf(deep)).toEqual([': nested deeper than 64 levels'])
  })

  test('a report is bounded, however many faults there are', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, index) => [`p${index}`, { type: 'string', maxLength: -1, maxLenght: 1 }]),
    )
    const report = validateLexicon(record(properties))
    expect(report.errors).toHaveLength(maxFindings)
    expect(report.warnings).toHaveLength(maxFindings)
  })

  test('a document that is no lexicon by its sheer size is refused before it costs much', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, index) => [`p${index}`, { type: 'string' }]),
    )
    expect(errorsOf(record(properties))).toEqual([
      ': more than 20000 values, which is no lexicon that anybody could read; split it',
    ])
  })

  test('any JSON gets a report', () => {
    const word = fc.constantFrom(
      'main',
      'type',
      'properties',
      'record',
      'items',
      'refs',
      'ref',
      'object',
      'array',
      'union',
      'query',
      'permissions',
      'permission-set',
      'errors',
      'schema',
      'output',
      'required',
      '__proto__',
      'constructor',
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        word,
        fc.integer(),
        fc.constant(null),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(word, tie('tree'), { maxKeys: 5 }),
      ),
    }))
    fc.assert(
      fc.property(tree, (defs) => {
        const document = JSON.parse(JSON.stringify(lexicon(defs)))
        const { valid, errors } = validateLexicon(document)
        expect(valid).toBe(errors.length === 0)
      }),
      { numRuns: 500 },
    )
    expect(Object.hasOwn(Object.prototype, 'type')).toBe(false)
  })
})
