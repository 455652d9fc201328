// Server
export type { HttpListener, ListenHttpOptions } from './node/listen.ts'
export { isLoopback, listenHttp } from './node/listen.ts'

// Client
