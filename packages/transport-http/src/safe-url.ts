/** A URL as it may appear in messages: without credentials, and without what its query says. */
export function safeUrl(url: string): string {
  if (!URL.canParse(url)) return 'an invalid URL'
  const { protocol, host, pathname, search } = new URL(url)
  return `${protocol}//${host}${pathname}${search === '' ? '' : '?…'}`
}
