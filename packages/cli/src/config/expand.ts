/** A variable without a value and without a default. */
export interface MissingVariable {
  readonly variable: string
}

/**
 * Puts environment variables into a text: `${NAME}`, also written `${env:NAME}` as editors do, and
 * `${NAME:-default}` (also used when the variable is empty); `$${`
 * stands for a literal `${`. Other dollar signs stay as they are. Values are not expanded again.
 */
export function expandVariables(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | MissingVariable {
  let missing: string | undefined
  const expanded = text.replace(
    /\$\$\{|\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
    (whole, name: string | undefined, fallback: string | undefined) => {
      if (name === undefined) return whole.slice(1)
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined
      if (fallback !== undefined) return value === undefined || value === '' ? fallback : value
      if (value === undefined) missing ??= name
      return value ?? ''
    },
  )
  return missing === undefined ? expanded : { variable: missing }
}
