/** Where clients come in and where the server behind is, in this order. */
export type Route = 'http-stdio' | 'stdio-http' | 'http-http'

/** All routes, in the order in which they are reported. */
export const routes: readonly Route[] = ['http-stdio', 'stdio-http', 'http-http']

/** The same for people. */
export const routeTitles: Readonly<Record<Route, string>> = {
  'http-stdio': 'HTTP in front of a stdio child',
  'stdio-http': 'stdio in front of HTTP',
  'http-http': 'HTTP in front of HTTP',
}

/** How clients reach a proxy on this route. */
export function frontOf(route: Route): 'http' | 'stdio' {
  return route === 'stdio-http' ? 'stdio' : 'http'
}

/** How a proxy on this route reaches the server behind it. */
export function backOf(route: Route): 'http' | 'stdio' {
  return route === 'http-stdio' ? 'stdio' : 'http'
}
