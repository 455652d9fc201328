import { UsageError } from './exit-error.ts'
import { suggest } from './suggest.ts'

/** One flag of a command. Make it with `flag`; the type of its value follows from that. */
export interface Flag<T = unknown> {
  /** What stands for the value in the help text; a switch has none. */
  readonly placeholder: string | undefined
  readonly help: string
  /** The default as the help text shows it. Applying it is up to the caller, since a configuration file may come between. */
  readonly shownDefault: string | undefined
  readonly isRepeatable: boolean
  readonly short: string | undefined
  /** Makes a value of all texts that were given, at least one. Throws a `UsageError`. */
  readonly read: (texts: readonly string[], name: string) => T
}

export type Flags = Readonly<Record<string, Flag>>

export interface ParsedFlags<F extends Flags> {
  /** Values of the flags that were given; the others are `undefined`. */
  readonly values: { readonly [name in keyof F]: F[name] extends Flag<infer T> ? T | undefined : never }
  readonly positionals: readonly string[]
}

interface FlagOptions {
  readonly default?: string
  readonly short?: string
}

/** Builders of flags. */
export const flag = {
  /** Present or not. */
  switch: (help: string, options: FlagOptions = {}): Flag<true> => ({
    ...base(help, options),
    read: () => true,
  }),

  /** A text; the last one given counts. */
  text: (placeholder: string, help: string, options: FlagOptions = {}): Flag<string> => ({
    ...base(help, options, placeholder),
    read: (texts, name) => nonEmpty(texts, name).at(-1) ?? '',
  }),

  /** Texts, one for each time that the flag is given. */
  texts: (placeholder: string, help: string, options: FlagOptions = {}): Flag<readonly string[]> => ({
    ...base(help, options, placeholder),
    isRepeatable: true,
    read: nonEmpty,
  }),

  /** One of a few words. */
  choice: <const C extends string>(choices: readonly C[], help: string, options: FlagOptions = {}): Flag<C> => ({
    ...base(help, options, choices.join('|')),
    read: (texts, name) => {
      const text = texts.at(-1) ?? ''
      const chosen = choices.find((choice) => choice === text)
      if (chosen !== undefined) return chosen
      const meant = suggest(text, choices)
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`
      throw new UsageError(`--${name} must be one of ${choices.join(', ')}, not ${JSON.stringify(text)}${hint}`)
    },
  }),

  /** A whole number within bounds. */
  integer: (
    placeholder: string,
    help: string,
    { min, max, ...options }: FlagOptions & { readonly min: number; readonly max: number },
  ): Flag<number> => ({
    ...base(help, options, placeholder),
    read: (texts, name) => {
      const text = texts.at(-1) ?? ''
      const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      if (number >= min && number <= max) return number
      throw new UsageError(`--${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`)
    },
  }),
} as const

function base(help: string, options: FlagOptions, placeholder?: string): Omit<Flag, 'read'> {
  return { placeholder, help, shownDefault: options.default, isRepeatable: false, short: options.short }
}

function nonEmpty(texts: readonly string[], name: string): readonly string[] {
  if (texts.includes('')) throw new UsageError(`--${name} needs a value that is not empty`)
  return texts
}

/**
 * Reads a command line: `--name value`, `--name=value`, `-n`, and `--` before words that are no flags. Throws a `UsageError`
 * that suggests the flag that was probably meant.
 */
export function parseFlags<const F extends Flags>(flags: F, args: readonly string[]): ParsedFlags<F> {
  // The built-in parser, asked for this way, costs nothing at start: an import would read every export of the module.
  const { parseArgs } = process.getBuiltinModule('node:util')
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(flags).map(([name, { placeholder, short }]) => [
        name,
        {
          type: placeholder === undefined ? ('boolean' as const) : ('string' as const),
          ...(short !== undefined && { short }),
        },
      ]),
    ),
  })
  const given = new Map<string, string[]>()
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const known = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined
    if (known === undefined) throw unknownFlag(token.rawName, Object.keys(flags))
    given.set(token.name, [...(given.get(token.name) ?? []), valueOf(token, known)])
  }
  const values = Object.entries(flags).map(([name, { read }]) => {
    const texts = given.get(name)
    return [name, texts === undefined ? undefined : read(texts, name)]
  })
  return { values: Object.fromEntries(values) as ParsedFlags<F>['values'], positionals }
}

function valueOf(
  token: { readonly rawName: string; readonly value?: string | undefined; readonly inlineValue?: boolean | undefined },
  { placeholder }: Flag,
): string {
  if (placeholder === undefined) {
    if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`)
    return ''
  }
  if (token.value === undefined) throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${placeholder}`)
  if (token.inlineValue !== true && token.value.startsWith('-')) {
    throw new UsageError(
      `${token.rawName} needs a value: ${token.rawName} ${placeholder} (for one that begins with a hyphen write ${token.rawName}=${token.value})`,
    )
  }
  return token.value
}

function unknownFlag(rawName: string, names: readonly string[]): UsageError {
  const meant = suggest(rawName.replace(/^-+/, ''), names)
  return new UsageError(`unknown flag ${rawName}${meant === undefined ? '' : `; did you mean --${meant}?`}`)
}
