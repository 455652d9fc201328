import { sha256 } from '../sha256.ts'

export interface CreateNameSchemeOptions {
  /** Names of all backends, each once. Their order does not matter. */
  readonly backends: readonly string[]
  /** Stands between the name of the backend and that of the tool. Default `__`. */
  readonly separator?: string | undefined
  /**
   * Whether names are kept to what the narrowest clients take: 64 characters of `a-z A-Z 0-9 _ -`. Default true. Without it only names
   * that could be taken for another backend's are shortened.
   */
  readonly narrow?: boolean | undefined
  /** Public names that somebody chose: for each backend its own names and what they become, as they stand, without a prefix. */
  readonly renames?: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined
}

/** What a public name may stand for. `own` is absent when only the lists of that backend can tell. */
export interface NameCandidate {
  readonly backend: string
  readonly own?: string
}

/**
 * How the names of several backends share one space. A public name depends on the configuration, the backend and its own name, and on
 * nothing else: not on what other backends offer, nor on who started first (field report F8).
 */
export interface NameScheme {
  /** The public name of a backend's tool or prompt. */
  publicName(backend: string, own: string): string
  /** Whom a public name can belong to; empty when it can be nobody's. */
  candidates(publicName: string): readonly NameCandidate[]
}

const maxLength = 64
const digestLength = 10
const shortForm = /_[0-9a-f]{10}$/
const narrowName = /^[A-Za-z0-9_-]*$/

/**
 * `<backend><separator><own>`, unless somebody chose another name. A name is shortened to what can be kept of it, `_` and ten digits of
 * the SHA-256 of both names with a line feed between them when it is too long or has other characters, when it could be read as another backend's, when
 * somebody chose it for another, or when it looks as if it were shortened itself. A `TypeError` for a configuration in which names
 * cannot be told apart.
 */
export function createNameScheme(options: CreateNameSchemeOptions): NameScheme {
  const { separator = '__', narrow = true } = options
  if (separator === '' || (narrow && !narrowName.test(separator))) {
    throw new TypeError(`the separator ${JSON.stringify(separator)} must be made of characters that names may have`)
  }
  const prefixes = prefixesOf(options.backends, narrow)
  const longestFirst = [...prefixes]
    .map(([backend, prefix]) => ({ backend, start: prefix + separator }))
    .sort((a, b) => b.start.length - a.start.length)
  const chosen = chosenNames(options.renames ?? new Map(), prefixes)

  const readerOf = (name: string): string | undefined =>
    longestFirst.find(({ start }) => name.startsWith(start))?.backend
  const fits = (name: string): boolean => !narrow || (name.length <= maxLength && narrowName.test(name))

  const publicName = (backend: string, own: string): string => {
    const renamed = options.renames?.get(backend)?.get(own)
    if (renamed !== undefined) return renamed
    const prefix = prefixes.get(backend)
    if (prefix === undefined) throw new TypeError(`no backend is named ${JSON.stringify(backend)}`)
    const plain = prefix + separator + own
    const isPlain = fits(plain) && !shortForm.test(plain) && readerOf(plain) === backend && !chosen.has(plain)
    return isPlain ? plain : shorten(plain, `${backend}\n${own}`, narrow)
  }

  return {
    publicName,
    candidates(name) {
      const renamed = chosen.get(name)
      if (renamed !== undefined) return [renamed]
      if (shortForm.test(name)) return shortened(name, longestFirst, narrow)
      const backend = readerOf(name)
      if (backend === undefined) return []
      const own = name.slice((prefixes.get(backend) as string).length + separator.length)
      return publicName(backend, own) === name ? [{ backend, own }] : []
    },
  }
}

/** What stands for each backend in front of its names: its own name, kept to the characters that names may have. */
function prefixesOf(backends: readonly string[], narrow: boolean): ReadonlyMap<string, string> {
  const taken = new Set(backends)
  if (taken.size < backends.length) throw new TypeError('two backends have the same name')
  if (taken.has('')) throw new TypeError('a backend has no name')
  const sanitized = backends.map((backend) => (narrow ? sanitize(backend) : backend))
  const prefixes = new Map(
    backends.map((backend, index): [string, string] => {
      const prefix = sanitized[index] as string
      if (prefix === backend) return [backend, backend]
      // Another backend with the same prefix would be another name for this one.
      const isShared = taken.has(prefix) || sanitized.filter((other) => other === prefix).length > 1
      return [backend, isShared ? `${prefix}_${digestOf(backend)}` : prefix]
    }),
  )
  if (new Set(prefixes.values()).size < prefixes.size) throw new TypeError('names of backends cannot be told apart')
  return prefixes
}

function chosenNames(
  renames: ReadonlyMap<string, ReadonlyMap<string, string>>,
  prefixes: ReadonlyMap<string, string>,
): ReadonlyMap<string, NameCandidate> {
  const chosen = new Map<string, NameCandidate>()
  for (const [backend, names] of renames) {
    if (!prefixes.has(backend)) throw new TypeError(`no backend is named ${JSON.stringify(backend)}`)
    for (const [own, name] of names) {
      if (name === '') throw new TypeError(`${JSON.stringify(own)} of ${JSON.stringify(backend)} is renamed to nothing`)
      const other = chosen.get(name)
      if (other !== undefined) {
        throw new TypeError(
          `${JSON.stringify(name)} is chosen for ${JSON.stringify(other.own)} of ${JSON.stringify(other.backend)} and for ${JSON.stringify(own)} of ${JSON.stringify(backend)}`,
        )
      }
      chosen.set(name, { backend, own })
    }
  }
  return chosen
}

function shorten(plain: string, identity: string, narrow: boolean): string {
  const kept = narrow ? sanitize(plain).slice(0, maxLength - 1 - digestLength) : plain
  return `${kept}_${digestOf(identity)}`
}

/** Backends of which a shortened name can be: those whose start it has, as far as it was kept. */
function shortened(
  name: string,
  starts: readonly { readonly backend: string; readonly start: string }[],
  narrow: boolean,
): readonly NameCandidate[] {
  const kept = name.slice(0, -1 - digestLength)
  return starts
    .filter(({ start }) => kept.startsWith(narrow ? start.slice(0, maxLength - 1 - digestLength) : start))
    .map(({ backend }) => ({ backend }))
}

function sanitize(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/gu, '_')
}

function digestOf(identity: string): string {
  return sha256(identity).slice(0, digestLength)
}

/** The names of a backend that is alone: its own, unless somebody chose others. */
export function createLoneNames(backend: string, renames: ReadonlyMap<string, string> = new Map()): NameScheme {
  const chosen = chosenNames(new Map([[backend, renames]]), new Map([[backend, backend]]))
  const publicName = (_backend: string, own: string): string =>
    renames.get(own) ?? (chosen.has(own) ? shorten(own, `${backend}\n${own}`, false) : own)
  return {
    publicName,
    candidates(name) {
      const renamed = chosen.get(name)
      if (renamed !== undefined) return [renamed]
      // A tool whose name was chosen for another has a shortened one, which only the list can tell from a name of its own.
      if (chosen.size > 0 && shortForm.test(name)) return [{ backend }]
      return publicName(backend, name) === name ? [{ backend, own: name }] : []
    },
  }
}
