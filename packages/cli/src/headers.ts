import { UsageError } from './exit-error.ts'
import { readWhole } from './read-whole.ts'
import type { Redactor } from './redact.ts'

/** Headers of the command line: those of a file first, then those that were given as flags. Values are kept from being shown. */
export function readHeaders(
  given: readonly string[],
  file: string | undefined,
  redactor: Redactor,
): Readonly<Record<string, string>> {
  const headers: [string, string][] = []
  if (file !== undefined) {
    for (const [index, line] of linesOf(file).entries()) {
      if (/^\s*(?:#|$)/.test(line)) continue
      headers.push(headerOf(line, `${file}:${index + 1}`))
    }
  }
  for (const text of given) headers.push(headerOf(text, '--header'))
  for (const [name, value] of headers) keepSecret(name, value, redactor)
  return Object.fromEntries(headers)
}

/** Headers whose values are no secrets whoever sends them; to take `application/json` out of all that is shown would spoil it. */
const openNames = /^(?:accept|accept-language|accept-encoding|content-type|user-agent|origin|host)$/i
/** Shorter values are switches and numbers rather than secrets, unless the name says otherwise. */
const shortestValue = 6

/** Keeps the value of a header from being shown, also what stands in it behind the name of a scheme. */
export function keepSecret(name: string, value: string, redactor: Redactor): void {
  if (openNames.test(name) || (value.length < shortestValue && !redactor.isSecretName(name))) return
  redactor.add(value)
  redactor.add(/^[A-Za-z]+\s+(.{3,})$/.exec(value)?.[1])
}

function linesOf(file: string): readonly string[] {
  try {
    return readWhole(file)
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .split(/\r?\n/)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`cannot read the headers: ${reason}`, { cause })
  }
}

/** The text itself is not repeated in messages: it may be a secret. */
function headerOf(text: string, place: string): [name: string, value: string] {
  const [, name = '', value = ''] = /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(text) ?? []
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    throw new UsageError(`${place}: a header is written "NAME: VALUE", such as "Authorization: Bearer …"`)
  }
  if (value === '') throw new UsageError(`${place}: the header ${name} has no value`)
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw new UsageError(`${place}: the value of the header ${name} has a character that no header can hold`)
  }
  return [name.toLowerCase(), value]
}
