import { trimField } from './headers.ts'
import { remembered } from './remembered.ts'

/** Names under which a loopback listener may be asked for, ports aside. */
export const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

export interface SourcePolicy {
  /** Origins of web pages that may ask, as browsers write them: `https://example.com`. Requests without `Origin` are not from pages. */
  readonly allowedOrigins: readonly string[]
  /** Host names under which the listener may be asked for, without ports. Absent: any; a loopback listener should name its own. */
  readonly allowedHosts?: readonly string[] | undefined
}

/** Tells whether a request comes from where requests may come from (MH-EP-02, -03; step 1). */
export interface SourceGuard {
  /** Why the source is refused, or `undefined`. */
  fault(origin: string | undefined, host: string | undefined): string | undefined
}

/** Builds the guard. Each distinct value is judged once. */
export function createSourceGuard(policy: SourcePolicy): SourceGuard {
  const origins = new Set(policy.allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, '')))
  const hosts =
    policy.allowedHosts === undefined ? undefined : new Set(policy.allowedHosts.map((host) => host.toLowerCase()))
  const isAllowedOrigin = remembered((field) => {
    const origin = trimField(field).toLowerCase()
    return origin !== 'null' && origins.has(origin)
  })
  const isAllowedHost = remembered((host) => hosts === undefined || hosts.has(hostName(host)))
  return {
    fault(origin, host) {
      // `null` and whatever does not parse are in no list
      if (origin !== undefined && !isAllowedOrigin(origin)) return 'This Origin is not allowed.'
      // DNS rebinding: the page's own host name leads here
      if (host !== undefined && !isAllowedHost(host)) return 'This Host is not allowed.'
      return undefined
    },
  }
}

/** A `Host` field without its port, in lower case. */
function hostName(host: string): string {
  return trimField(host).toLowerCase().replace(/:\d*$/, '')
}
