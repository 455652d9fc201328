/** Dialects of JSON Schema that raw schemas may be written in (MC-SCH-01, MC-SCH-03). */
export type Dialect = '2020-12' | 'draft-07'

const dialects: ReadonlyMap<string, Dialect> = new Map([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ['https://json-schema.org/draft-07/schema', 'draft-07'],
])

/** The dialect that `$schema` names; 2020-12 when it is absent, `undefined` when it is none of ours. */
export function dialectOf($schema: unknown): Dialect | undefined {
  if ($schema === undefined) return '2020-12'
  return typeof $schema === 'string' ? dialects.get(withoutEmptyFragment($schema)) : undefined
}

/** Whether a URI names the meta-schema of a dialect, which validators have at hand. */
export function isMetaSchema(uri: string): boolean {
  return dialects.has(withoutEmptyFragment(uri))
}

function withoutEmptyFragment(uri: string): string {
  return uri.endsWith('#') ? uri.slice(0, -1) : uri
}
