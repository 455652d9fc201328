// Server
export type { HttpListener, ListenHttpOptions } from './node/listen.ts'
export { isLoopback, listenHttp } from './node/listen.ts'

// Client
export type { AgentOf, Agents, CreateAgentsOptions } from './node/agents.ts'
export { createAgents } from './node/agents.ts'
export type { CreateNodeSendOptions, NodeSend } from './node/send.ts'
export { createNodeSend } from './node/send.ts'
