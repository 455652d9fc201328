/** The variables by which an environment names proxies; each is known in lower case as well. */
const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']

/** Whether an environment names any proxy. */
export function namesProxies(env: Readonly<Record<string, string | undefined>>): boolean {
  return proxyVariables.some((name) => (env[name] ?? '') !== '' || (env[name.toLowerCase()] ?? '') !== '')
}
