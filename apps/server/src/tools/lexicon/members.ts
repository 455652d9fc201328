const common = ['type', 'description']
const endpoint = [...common, 'parameters', 'output', 'errors']

/** The members that the specification gives each type. Others are ignored by readers, so most of them are misspelt ones. */
export const knownMembers: ReadonlyMap<string, readonly string[]> = new Map([
  ['boolean', [...common, 'default', 'const']],
  ['integer', [...common, 'minimum', 'maximum', 'enum', 'default', 'const']],
  [
    'string',
    [
      ...common,
      'format',
      'maxLength',
      'minLength',
      'maxGraphemes',
      'minGraphemes',
      'knownValues',
      'enum',
      'default',
      'const',
    ],
  ],
  ['bytes', [...common, 'minLength', 'maxLength']],
  ['cid-link', common],
  ['blob', [...common, 'accept', 'maxSize']],
  ['array', [...common, 'items', 'minLength', 'maxLength']],
  ['object', [...common, 'properties', 'required', 'nullable']],
  ['params', [...common, 'properties', 'required']],
  ['token', common],
  ['ref', [...common, 'ref']],
  ['union', [...common, 'refs', 'closed']],
  ['unknown', common],
  ['record', [...common, 'key', 'record']],
  ['query', endpoint],
  ['procedure', [...endpoint, 'input']],
  ['subscription', [...common, 'parameters', 'message', 'errors']],
  ['permission-set', [...common, 'title', 'title:lang', 'detail', 'detail:lang', 'permissions']],
])

/** Types that describe a whole file and stand under the name `main` only. */
export const primaryTypes: ReadonlySet<string> = new Set([
  'record',
  'query',
  'procedure',
  'subscription',
  'permission-set',
])

/** Types that exist only inside other definitions. */
export const innerTypes: ReadonlySet<string> = new Set(['ref', 'union', 'unknown', 'params', 'permission'])
