import { suggest } from '@atenea/cli'
import { isObject, type UnknownObject } from '../json.ts'
import { type JsonPath, quote } from '../json-path.ts'
import { isNsid } from '../nsid.ts'
import { type Finding, finding } from './finding.ts'
import { innerTypes, knownMembers, primaryTypes } from './members.ts'

export interface RuleFindings {
  readonly errors: readonly Finding[]
  /** Not against the specification, but refused by a common implementation or probably not what was meant. */
  readonly warnings: readonly Finding[]
}

/**
 * What the specification says beyond the shape of single members: names, bounds, references, and what must go together.
 * Members of a wrong type are passed over, since the grammar reports them.
 *
 * @see https://atproto.com/specs/lexicon
 */
export function ruleFindings(id: string, defs: UnknownObject): RuleFindings {
  const rules = new Rules(id, defs)
  for (const [name, def] of Object.entries(defs)) rules.definition(name, def)
  return rules
}

const maxSuggestions = 20

class Rules implements RuleFindings {
  readonly errors: Finding[] = []
  readonly warnings: Finding[] = []
  readonly #id: string
  readonly #defs: UnknownObject
  #suggestions = 0

  constructor(id: string, defs: UnknownObject) {
    this.#id = id
    this.#defs = defs
  }

  definition(name: string, def: unknown): void {
    const path = ['defs', name]
    if (!/^[a-z][A-Za-z0-9]{0,62}$/.test(name)) {
      this.#error(path, 'the name of a definition has letters and digits only and begins with a small letter')
    }
    if (!isObject(def)) return
    const type = def['type']
    if (typeof type === 'string' && innerTypes.has(type)) {
      this.#error([...path, 'type'], `${type} cannot be the type of a named definition; write it where it is used`)
    } else if (typeof type === 'string' && primaryTypes.has(type) && name !== 'main') {
      this.#error([...path, 'type'], `type ${type} describes the whole file, so its definition must be called main`)
    }
    this.#schema(def, path)
  }

  #schema(schema: unknown, path: JsonPath): void {
    if (!isObject(schema)) return
    this.#members(schema, path)
    switch (schema['type']) {
      case 'integer':
        this.#bounds(schema, path, 'minimum', 'maximum')
        return this.#values(schema, path)
      case 'string':
        this.#bounds(schema, path, 'minLength', 'maxLength', 0)
        this.#bounds(schema, path, 'minGraphemes', 'maxGraphemes', 0)
        return this.#values(schema, path)
      case 'boolean':
        return this.#values(schema, path)
      case 'bytes':
        return this.#bounds(schema, path, 'minLength', 'maxLength', 0)
      case 'blob':
        return this.#blob(schema, path)
      case 'array':
        this.#bounds(schema, path, 'minLength', 'maxLength', 0)
        if (isObject(schema['items']) && schema['items']['type'] === 'object') this.#warnInline([...path, 'items'])
        return this.#schema(schema['items'], [...path, 'items'])
      case 'object':
      case 'params':
        return this.#properties(schema, path)
      case 'ref':
        return this.#reference(schema['ref'], [...path, 'ref'], 'a ref')
      case 'union':
        return this.#union(schema, path)
      case 'record':
        this.#recordKey(schema['key'], [...path, 'key'])
        return this.#schema(schema['record'], [...path, 'record'])
      case 'query':
      case 'procedure':
      case 'subscription':
        return this.#endpoint(schema, path)
      case 'permission-set':
        return this.#permissionSet(schema, path)
      default:
    }
  }

  #members(schema: UnknownObject, path: JsonPath): void {
    const known = typeof schema['type'] === 'string' ? knownMembers.get(schema['type']) : undefined
    if (known === undefined) return
    for (const member of Object.keys(schema)) {
      if (known.includes(member)) continue
      const meant = this.#suggest(member, known)
      this.#warning(
        [...path, member],
        `type ${String(schema['type'])} has no member ${quote(member)}, so readers ignore it${meant === undefined ? '' : `; did you mean ${quote(meant)}?`}`,
      )
    }
  }

  #bounds(schema: UnknownObject, path: JsonPath, low: string, high: string, least?: number): void {
    const [min, max] = [schema[low], schema[high]]
    for (const [name, bound] of [
      [low, min],
      [high, max],
    ] as const) {
      if (typeof bound === 'number' && least !== undefined && bound < least) {
        this.#error([...path, name], `${name} must not be negative`)
      }
    }
    if (typeof min === 'number' && typeof max === 'number' && min > max) {
      this.#error([...path, low], `${low} ${min} is greater than ${high} ${max}, so no value fits`)
    }
  }

  /** `default`, `const` and `enum` against each other and against the bounds. */
  #values(schema: UnknownObject, path: JsonPath): void {
    if (Object.hasOwn(schema, 'default') && Object.hasOwn(schema, 'const')) {
      this.#error([...path, 'default'], 'default and const exclude each other')
    }
    const allowed = schema['enum']
    if (Array.isArray(allowed) && allowed.length === 0)
      this.#error([...path, 'enum'], 'enum is empty, so no value fits')
    for (const name of ['default', 'const']) {
      const value = schema[name]
      if (value === undefined) continue
      if (Array.isArray(allowed) && allowed.length > 0 && !allowed.includes(value)) {
        this.#error([...path, name], `${name} is not one of the values of enum`)
      }
      const size = typeof value === 'string' ? Buffer.byteLength(value) : value
      const [low, high] = typeof value === 'string' ? ['minLength', 'maxLength'] : ['minimum', 'maximum']
      if (typeof size !== 'number' || low === undefined || high === undefined) continue
      const [min, max] = [schema[low], schema[high]]
      if (typeof min === 'number' && size < min) this.#error([...path, name], `${name} is below ${low} ${min}`)
      if (typeof max === 'number' && size > max) this.#error([...path, name], `${name} is above ${high} ${max}`)
    }
  }

  #blob(schema: UnknownObject, path: JsonPath): void {
    if (typeof schema['maxSize'] === 'number' && schema['maxSize'] < 0) {
      this.#error([...path, 'maxSize'], 'maxSize must not be negative')
    }
    for (const [index, pattern] of list(schema['accept'])) {
      if (typeof pattern !== 'string' || /^(?:\*\/\*|[\w.+-]+\/(?:\*|[\w.+-]+))$/.test(pattern)) continue
      this.#error([...path, 'accept', index], `${quote(pattern)} is no media type; write image/png, image/* or */*`)
    }
  }

  #properties(schema: UnknownObject, path: JsonPath): void {
    const properties = isObject(schema['properties']) ? schema['properties'] : {}
    for (const [name, property] of Object.entries(properties)) {
      const below = [...path, 'properties', name]
      if (name === '__proto__') this.#error(below, 'a property must not be called __proto__')
      else if (name.startsWith('$')) this.#warning(below, 'names that begin with $ are reserved for the protocol')
      if (isObject(property) && property['type'] === 'object' && schema['type'] === 'object') this.#warnInline(below)
      this.#schema(property, below)
    }
    const missing = list(schema['required']).filter(
      ([, name]) => typeof name === 'string' && !Object.hasOwn(properties, name),
    )
    if (missing.length > 0) {
      const names = missing.map(([, name]) => quote(String(name))).join(', ')
      this.#error([...path, 'required'], `required names ${names}, which properties does not have`)
    }
    for (const [index, name] of list(schema['nullable'])) {
      if (typeof name === 'string' && !Object.hasOwn(properties, name)) {
        this.#warning([...path, 'nullable', index], `nullable names ${quote(name)}, which properties does not have`)
      }
    }
  }

  #warnInline(path: JsonPath): void {
    this.#warning(
      path,
      'the TypeScript implementation refuses an object inside another; make it a definition and use a ref',
    )
  }

  #union(schema: UnknownObject, path: JsonPath): void {
    const refs = list(schema['refs'])
    if (schema['closed'] === true && Array.isArray(schema['refs']) && refs.length === 0) {
      this.#error([...path, 'refs'], 'a closed union needs at least one ref, or no value fits')
    }
    for (const [index, ref] of refs) this.#reference(ref, [...path, 'refs', index], 'a union')
  }

  #reference(ref: unknown, path: JsonPath, from: 'a ref' | 'a union'): void {
    if (typeof ref !== 'string') return
    const [nsid = '', name = 'main', ...more] = ref.split('#')
    const isLocal = ref.startsWith('#') && ref.length > 1
    if (more.length > 0 || !(isLocal || isNsid(nsid)) || (ref.includes('#') && !/^[A-Za-z][A-Za-z0-9]*$/.test(name))) {
      return this.#error(
        path,
        `${quote(ref)} is no reference; write #name, com.example.thing or com.example.thing#name`,
      )
    }
    if (!isLocal && nsid !== this.#id) return
    const target = Object.hasOwn(this.#defs, name) ? this.#defs[name] : undefined
    if (target === undefined) {
      const meant = this.#suggest(name, Object.keys(this.#defs))
      this.#error(
        path,
        `there is no definition ${quote(name)} here${meant === undefined ? '' : `; did you mean #${meant}?`}`,
      )
    } else if (isObject(target) && typeof target['type'] === 'string' && !mayPointTo(from, target['type'])) {
      this.#error(path, `${from} cannot point to a definition of type ${target['type']}`)
    }
  }

  #recordKey(key: unknown, path: JsonPath): void {
    if (typeof key !== 'string' || !key.startsWith('literal:')) return
    const literal = key.slice('literal:'.length)
    if (!/^[A-Za-z0-9._:~-]{1,512}$/.test(literal) || literal === '.' || literal === '..') {
      this.#error(path, `${quote(literal)} is no record key`)
    }
  }

  #endpoint(schema: UnknownObject, path: JsonPath): void {
    this.#schema(schema['parameters'], [...path, 'parameters'])
    for (const body of ['input', 'output', 'message']) {
      if (isObject(schema[body])) this.#schema(schema[body]['schema'], [...path, body, 'schema'])
    }
    for (const [index, error] of list(schema['errors'])) {
      if (isObject(error) && typeof error['name'] === 'string' && /\s/.test(error['name'])) {
        this.#error([...path, 'errors', index, 'name'], 'the name of an error has no white space')
      }
    }
  }

  /** The specification calls these sets valid in a lexicon and without effect as permissions, hence warnings. */
  #permissionSet(schema: UnknownObject, path: JsonPath): void {
    for (const name of ['title', 'detail']) {
      if (schema[name] === undefined) this.#warning(path, `without ${name}, users see no ${name} when they are asked`)
    }
    const group = this.#id.slice(0, this.#id.lastIndexOf('.') + 1)
    for (const [index, permission] of list(schema['permissions'])) {
      if (!isObject(permission)) continue
      const at = [...path, 'permissions', index]
      const member =
        permission['resource'] === 'repo' ? 'collection' : permission['resource'] === 'rpc' ? 'lxm' : undefined
      if (member === undefined) {
        this.#warning(at, 'services ignore permissions for other resources than repo and rpc')
        continue
      }
      const names = list(permission[member])
      if (names.length === 0) this.#warning([...at, member], `${member} must name at least one NSID`)
      for (const [position, name] of names) {
        if (typeof name !== 'string' || name.startsWith(group)) continue
        this.#warning([...at, member, position], `${quote(name)} is outside ${group}*, so this set cannot grant it`)
      }
      const { aud, inheritAud } = permission
      if (member === 'lxm' && (aud === undefined) !== (inheritAud === true)) {
        this.#warning(at, 'an rpc permission needs either aud "*" or inheritAud true')
      }
    }
  }

  /** Looking for what was meant is the slowest part, and a reader looks at the first findings only. */
  #suggest(written: string, candidates: readonly string[]): string | undefined {
    this.#suggestions += 1
    return this.#suggestions > maxSuggestions ? undefined : suggest(written, candidates)
  }

  #error(path: JsonPath, message: string): void {
    this.errors.push(finding(path, message))
  }

  #warning(path: JsonPath, message: string): void {
    this.warnings.push(finding(path, message))
  }
}

/** Elements of an array with their positions; nothing for any other value. */
function list(value: unknown): readonly (readonly [number, unknown])[] {
  return Array.isArray(value) ? [...value.entries()] : []
}

function mayPointTo(from: 'a ref' | 'a union', type: string): boolean {
  if (from === 'a union') return type === 'object' || type === 'record'
  return type !== 'token' && (type === 'record' || !primaryTypes.has(type))
}
