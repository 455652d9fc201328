export type { CreateResourceServerOptions, ResourceServer } from './create-resource-server.ts'
export { createResourceServer } from './create-resource-server.ts'
export type { IntrospectionClient } from './introspection-checker.ts'
export { asymmetricAlgorithms } from './jwt-checker.ts'
