export type { CreateResourceServerOptions, ResourceServer } from './resource-server/create-resource-server.ts'
export { createResourceServer } from './resource-server/create-resource-server.ts'
export type { IntrospectionClient } from './resource-server/introspection-checker.ts'
export { asymmetricAlgorithms } from './resource-server/jwt-checker.ts'
