// The package brings no types; this is what is used of it.
declare module 'proxy-from-env' {
  /** The proxy for a URL by the variables of the process, or the empty string for none. */
  export function getProxyForUrl(url: string): string
}
