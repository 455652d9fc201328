// serving on our own stdin and stdout
export { openStdio } from './serve.ts'
export type { OpenStdioOptions } from './serve.ts'

// starting a server
export { spawnServer } from './spawn.ts'
export type { ServerConnection, SpawnServerOptions } from './spawn.ts'
export { startServer } from './server-process.ts'
export type { ServerProcess, StartServerOptions } from './server-process.ts'
export { ServerExitError } from './spawn-errors.ts'
export type { ServerExit } from './spawn-errors.ts'
export { inheritedVariables } from './child-env.ts'
export type { Environment } from './child-env.ts'
export type { ShutdownOptions } from './shutdown.ts'

// unix sockets
export { connectSocket, dialSocket, listenSocket } from './socket.ts'
export type { ConnectSocketOptions, DialSocketOptions, ListenSocketOptions, SocketListener } from './socket.ts'
export { maxSocketPathBytes } from './socket-path.ts'

// the framing alone
export { createLineFramer, defaultMaxLineBytes } from './line-framer.ts'
export type { CreateLineFramerOptions, LineFault, LineFramer, LineSink } from './line-framer.ts'
export type { LineOptions } from './stream-connection.ts'
