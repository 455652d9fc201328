/** Two labels at least, none longer than 63 characters, the last beginning with a letter: a handle, and the host of a service. */
const form = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const maxLength = 253

/** Domains that are no part of the public internet, or not for this use. */
const reserved = new Set(['alt', 'arpa', 'example', 'internal', 'invalid', 'local', 'localhost', 'onion'])

/** Whether a text in lower case is the full name of a host, as handles and services have it. No trailing dot, no address. */
export function isHostName(text: string): boolean {
  return text.length <= maxLength && form.test(text)
}

/** Whether a host lies in a domain that nothing may be resolved in. `.test` is none: development needs it. */
export function isReservedHost(host: string): boolean {
  return reserved.has(host.slice(host.lastIndexOf('.') + 1))
}
