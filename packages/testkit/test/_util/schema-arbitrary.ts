import fc from 'fast-check'
import type { SpecSchema } from '../../src/spec-schemas.ts'

type Definitions = Readonly<Record<string, SpecSchema>>

const anything = fc.constantFrom<unknown>(null, true, 'x', 0, -1.5, [], [1], {}, { a: null })

/** Values of a type of the specification, made from its schema. Below `depth` levels only what is required. */
export function schemaArbitrary(schema: SpecSchema, definitions: Definitions, depth = 4): fc.Arbitrary<unknown> {
  const sub = (part: unknown): fc.Arbitrary<unknown> => schemaArbitrary(part as SpecSchema, definitions, depth - 1)
  if (typeof schema['$ref'] === 'string') {
    const name = schema['$ref'].slice(schema['$ref'].lastIndexOf('/') + 1)
    return schemaArbitrary(definitions[name] as SpecSchema, definitions, depth)
  }
  if ('const' in schema) return fc.constant(schema['const'])
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]))
  if (Array.isArray(schema['anyOf']))
    return fc.oneof(...schema['anyOf'].map((part) => schemaArbitrary(part as SpecSchema, definitions, depth)))
  if (Array.isArray(schema['allOf']))
    return schemaArbitrary(merge(schema['allOf'] as SpecSchema[], definitions), definitions, depth)
  const types = typeof schema['type'] === 'string' ? [schema['type']] : (schema['type'] as string[] | undefined)
  if (types === undefined) return anything
  return fc.oneof(...types.map((type) => ofType(type, schema, depth, sub)))
}

function ofType(
  type: string,
  schema: SpecSchema,
  depth: number,
  sub: (part: unknown) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number }
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'string':
      return fc.string({ maxLength: 8 })
    case 'integer':
      return fc.integer({ min: minimum ?? -1_000_000, max: maximum ?? 1_000_000 })
    case 'number':
      return fc.double({ noNaN: true, min: minimum ?? -1e6, max: maximum ?? 1e6 })
    case 'array':
      return fc.array(sub(schema['items'] ?? {}), { maxLength: depth > 0 ? 2 : 0 })
    case 'object':
      return objectArbitrary(schema, depth, sub)
    default:
      throw new Error(`a schema names the type ${type}`)
  }
}

function objectArbitrary(
  schema: SpecSchema,
  depth: number,
  sub: (part: unknown) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const required = (schema['required'] ?? []) as string[]
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, unknown>)
    .filter(([name]) => depth > 0 || required.includes(name))
    .map(([name, part]) => [name, sub(part)] as const)
  const named = fc.record(Object.fromEntries(members), { requiredKeys: required })
  if (depth <= 0) return named
  const { additionalProperties = {} } = schema
  const others = typeof additionalProperties === 'object' ? sub(additionalProperties) : anything
  const more = fc.dictionary(fc.constantFrom('x-1', 'x-2'), others, { maxKeys: 1, noNullPrototype: true })
  return fc.tuple(named, more).map(([own, extra]) => ({ ...extra, ...own }))
}

/** One schema for a conjunction of object schemas: later members and keywords win. */
function merge(parts: readonly SpecSchema[], definitions: Definitions): SpecSchema {
  const properties: Record<string, unknown> = {}
  const required: string[] = []
  for (const part of parts) {
    const reference = part['$ref']
    const schema =
      typeof reference === 'string'
        ? (definitions[reference.slice(reference.lastIndexOf('/') + 1)] as SpecSchema)
        : part
    Object.assign(properties, schema['properties'])
    required.push(...((schema['required'] ?? []) as string[]))
  }
  return { type: 'object', properties, required: [...new Set(required)] }
}

/** The same value with one place in it changed: a member or an element taken out, added, or replaced by something else. */
export function changedArbitrary(value: unknown): fc.Arbitrary<unknown> {
  return fc.tuple(fc.nat(), fc.nat(2), anything).map(([nat, how, other]) => {
    const copy = structuredClone(value)
    const places: [container: Record<string, unknown>, key: string][] = []
    collect(copy, places)
    const place = places[nat % Math.max(1, places.length)]
    if (place === undefined) return other
    const [container, key] = place
    if (how === 0)
      delete container[key] // oxlint-disable-line typescript/no-dynamic-delete -- a copy that nobody else has
    else if (how === 1) container[key] = other
    else container['x-changed'] = other
    return copy
  })
}

function collect(value: unknown, places: [Record<string, unknown>, string][]): void {
  if (typeof value !== 'object' || value === null) return
  const container = value as Record<string, unknown>
  for (const key of Object.keys(container)) {
    places.push([container, key])
    collect(container[key], places)
  }
}
