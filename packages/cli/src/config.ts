// Loads JSONC and zod with it, so that programs import this only once they have a file to read.
export type { LoadConfigOptions } from './config/load-config.ts'
export { loadConfig } from './config/load-config.ts'
export type { ConfiguredServer, LoadServersOptions, ServersFile, ServerTarget } from './config/mcp-servers.ts'
export { loadServers, serversFileSchema } from './config/mcp-servers.ts'
