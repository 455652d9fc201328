/* oxlint-disable typescript/no-empty-object-type -- an interface keeps its name in declarations, where an alias would be written out in full */
import * as z from 'zod'
import {
  type AudioContent,
  type BooleanSchema,
  type EmbeddedResource,
  type ImageContent,
  type TextContent,
  annotationsSchema,
  anyResourceContentsSchema,
  anyValueSchema,
  audioContentSchema,
  baseMetadataSchema,
  booleanSchemaSchema,
  completionParamsShape,
  cursorSchema,
  embeddedResourceSchema,
  imageContentSchema,
  loggingLevelSchema,
  objectSchema,
  progressTokenSchema,
  promptArgumentSchema,
  requestIdSchema,
  roleSchema,
  rootSchema,
  samplingParamsShape,
  textContentSchema,
  toolAnnotationsSchema,
} from '../unchanged-schemas.ts'

export type {
  Annotations,
  AudioContent,
  BaseMetadata,
  BlobResourceContents,
  BooleanSchema,
  Cursor,
  EmbeddedResource,
  ImageContent,
  LoggingLevel,
  ModelHint,
  ModelPreferences,
  ProgressToken,
  PromptArgument,
  PromptReference,
  RequestId,
  ResourceContents,
  ResourceTemplateReference,
  Role,
  Root,
  TextContent,
  TextResourceContents,
  ToolAnnotations,
} from '../unchanged-schemas.ts'
export {
  annotationsSchema,
  audioContentSchema,
  baseMetadataSchema,
  blobResourceContentsSchema,
  booleanSchemaSchema,
  cursorSchema,
  embeddedResourceSchema,
  imageContentSchema,
  loggingLevelSchema,
  modelHintSchema,
  modelPreferencesSchema,
  progressTokenSchema,
  promptArgumentSchema,
  promptReferenceSchema,
  requestIdSchema,
  resourceContentsSchema,
  resourceTemplateReferenceSchema,
  roleSchema,
  rootSchema,
  textContentSchema,
  textResourceContentsSchema,
  toolAnnotationsSchema,
} from '../unchanged-schemas.ts'

// JSON-RPC

export const resultSchema = z.looseObject({ _meta: objectSchema.optional() })
export const emptyResultSchema = resultSchema
export interface Result extends z.infer<typeof resultSchema> {}

const requestMeta = z.looseObject({ progressToken: progressTokenSchema.optional() }).optional()
const anyParams = z.looseObject({ _meta: objectSchema.optional() }).optional()
const anyRequestParams = z.looseObject({ _meta: requestMeta }).optional()

export const requestSchema = z.looseObject({ method: z.string(), params: anyRequestParams })
export const notificationSchema = z.looseObject({ method: z.string(), params: anyParams })
export const jsonrpcRequestSchema = requestSchema.extend({ jsonrpc: z.literal('2.0'), id: requestIdSchema })
export const jsonrpcNotificationSchema = notificationSchema.extend({ jsonrpc: z.literal('2.0') })
export const jsonrpcResponseSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: requestIdSchema,
  result: resultSchema,
})
export const jsonrpcErrorSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: requestIdSchema,
  error: z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
})
export const jsonrpcMessageSchema = z.union([
  jsonrpcRequestSchema,
  jsonrpcNotificationSchema,
  jsonrpcResponseSchema,
  jsonrpcErrorSchema,
])

// handshake

export const implementationSchema = baseMetadataSchema.extend({ version: z.string() })
export const clientCapabilitiesSchema = z.looseObject({
  experimental: z.record(z.string(), objectSchema).optional(),
  roots: z.looseObject({ listChanged: z.boolean().optional() }).optional(),
  sampling: objectSchema.optional(),
  elicitation: objectSchema.optional(),
})
export const serverCapabilitiesSchema = z.looseObject({
  experimental: z.record(z.string(), objectSchema).optional(),
  logging: objectSchema.optional(),
  completions: objectSchema.optional(),
  prompts: z.looseObject({ listChanged: z.boolean().optional() }).optional(),
  resources: z.looseObject({ subscribe: z.boolean().optional(), listChanged: z.boolean().optional() }).optional(),
  tools: z.looseObject({ listChanged: z.boolean().optional() }).optional(),
})
export interface Implementation extends z.infer<typeof implementationSchema> {}
export interface ClientCapabilities extends z.infer<typeof clientCapabilitiesSchema> {}
export interface ServerCapabilities extends z.infer<typeof serverCapabilitiesSchema> {}
const implementation: z.ZodType<Implementation> = implementationSchema
const clientCapabilities: z.ZodType<ClientCapabilities> = clientCapabilitiesSchema
const serverCapabilities: z.ZodType<ServerCapabilities> = serverCapabilitiesSchema

export const initializeRequestSchema = z.looseObject({
  method: z.literal('initialize'),
  params: z.looseObject({
    protocolVersion: z.string(),
    capabilities: clientCapabilities,
    clientInfo: implementation,
    _meta: requestMeta,
  }),
})
export const initializeResultSchema = resultSchema.extend({
  protocolVersion: z.string(),
  capabilities: serverCapabilities,
  serverInfo: implementation,
  instructions: z.string().optional(),
})
export const initializedNotificationSchema = z.looseObject({
  method: z.literal('notifications/initialized'),
  params: anyParams,
})
export const pingRequestSchema = z.looseObject({ method: z.literal('ping'), params: anyRequestParams })

// pages

const pageParams = z.looseObject({ cursor: cursorSchema.optional(), _meta: requestMeta }).optional()
export const paginatedRequestSchema = z.looseObject({ method: z.string(), params: pageParams })
export const paginatedResultSchema = resultSchema.extend({ nextCursor: cursorSchema.optional() })

// resources

export const resourceSchema = baseMetadataSchema.extend({
  uri: z.string(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  annotations: annotationsSchema.optional(),
  size: z.int().optional(),
  _meta: objectSchema.optional(),
})
export const resourceLinkSchema = resourceSchema.extend({ type: z.literal('resource_link') })
export const resourceTemplateSchema = baseMetadataSchema.extend({
  uriTemplate: z.string(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  annotations: annotationsSchema.optional(),
  _meta: objectSchema.optional(),
})
export interface Resource extends z.infer<typeof resourceSchema> {}
export interface ResourceLink extends z.infer<typeof resourceLinkSchema> {}
export interface ResourceTemplate extends z.infer<typeof resourceTemplateSchema> {}
const resource: z.ZodType<Resource> = resourceSchema
const resourceTemplate: z.ZodType<ResourceTemplate> = resourceTemplateSchema

const uriParams = z.looseObject({ uri: z.string(), _meta: requestMeta })
export const listResourcesRequestSchema = paginatedRequestSchema.extend({ method: z.literal('resources/list') })
export const listResourcesResultSchema = paginatedResultSchema.extend({ resources: z.array(resource) })
export const listResourceTemplatesRequestSchema = paginatedRequestSchema.extend({
  method: z.literal('resources/templates/list'),
})
export const listResourceTemplatesResultSchema = paginatedResultSchema.extend({
  resourceTemplates: z.array(resourceTemplate),
})
export const readResourceRequestSchema = z.looseObject({ method: z.literal('resources/read'), params: uriParams })
export const readResourceResultSchema = resultSchema.extend({ contents: z.array(anyResourceContentsSchema) })
export const subscribeRequestSchema = z.looseObject({ method: z.literal('resources/subscribe'), params: uriParams })
export const unsubscribeRequestSchema = z.looseObject({ method: z.literal('resources/unsubscribe'), params: uriParams })
export const resourceListChangedNotificationSchema = z.looseObject({
  method: z.literal('notifications/resources/list_changed'),
  params: anyParams,
})
export const resourceUpdatedNotificationSchema = z.looseObject({
  method: z.literal('notifications/resources/updated'),
  params: z.looseObject({ uri: z.string(), _meta: objectSchema.optional() }),
})

// content blocks and prompts

export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
export const contentBlockSchema: z.ZodType<ContentBlock> = z.discriminatedUnion('type', [
  textContentSchema,
  imageContentSchema,
  audioContentSchema,
  resourceLinkSchema,
  embeddedResourceSchema,
])

export const promptSchema = baseMetadataSchema.extend({
  description: z.string().optional(),
  arguments: z.array(promptArgumentSchema).optional(),
  _meta: objectSchema.optional(),
})
export const promptMessageSchema = z.looseObject({ role: roleSchema, content: contentBlockSchema })
export interface Prompt extends z.infer<typeof promptSchema> {}
export interface PromptMessage extends z.infer<typeof promptMessageSchema> {}
const prompt: z.ZodType<Prompt> = promptSchema
const promptMessage: z.ZodType<PromptMessage> = promptMessageSchema

export const listPromptsRequestSchema = paginatedRequestSchema.extend({ method: z.literal('prompts/list') })
export const listPromptsResultSchema = paginatedResultSchema.extend({ prompts: z.array(prompt) })
export const getPromptRequestSchema = z.looseObject({
  method: z.literal('prompts/get'),
  params: z.looseObject({
    name: z.string(),
    arguments: z.record(z.string(), z.string()).optional(),
    _meta: requestMeta,
  }),
})
export const getPromptResultSchema = resultSchema.extend({
  description: z.string().optional(),
  messages: z.array(promptMessage),
})
export const promptListChangedNotificationSchema = z.looseObject({
  method: z.literal('notifications/prompts/list_changed'),
  params: anyParams,
})

// tools

const objectJsonSchema = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string(), objectSchema).optional(),
  required: z.array(z.string()).optional(),
})
export const toolSchema = baseMetadataSchema.extend({
  description: z.string().optional(),
  inputSchema: objectJsonSchema,
  outputSchema: objectJsonSchema.optional(),
  annotations: toolAnnotationsSchema.optional(),
  _meta: objectSchema.optional(),
})
export interface Tool extends z.infer<typeof toolSchema> {}
const tool: z.ZodType<Tool> = toolSchema

export const listToolsRequestSchema = paginatedRequestSchema.extend({ method: z.literal('tools/list') })
export const listToolsResultSchema = paginatedResultSchema.extend({ tools: z.array(tool) })
export const callToolRequestSchema = z.looseObject({
  method: z.literal('tools/call'),
  params: z.looseObject({ name: z.string(), arguments: objectSchema.optional(), _meta: requestMeta }),
})
export const callToolResultSchema = resultSchema.extend({
  content: z.array(contentBlockSchema),
  structuredContent: objectSchema.optional(),
  isError: z.boolean().optional(),
})
export const toolListChangedNotificationSchema = z.looseObject({
  method: z.literal('notifications/tools/list_changed'),
  params: anyParams,
})

// completion, logging, progress, cancel

export const completeRequestSchema = z.looseObject({
  method: z.literal('completion/complete'),
  params: z.looseObject({ ...completionParamsShape, _meta: requestMeta }),
})
export const completeResultSchema = resultSchema.extend({
  completion: z.looseObject({
    values: z.array(z.string()),
    total: z.int().optional(),
    hasMore: z.boolean().optional(),
  }),
})
export const setLevelRequestSchema = z.looseObject({
  method: z.literal('logging/setLevel'),
  params: z.looseObject({ level: loggingLevelSchema, _meta: requestMeta }),
})
export const loggingMessageNotificationSchema = z.looseObject({
  method: z.literal('notifications/message'),
  params: z.looseObject({ level: loggingLevelSchema, logger: z.string().optional(), data: anyValueSchema }),
})
export const progressNotificationSchema = z.looseObject({
  method: z.literal('notifications/progress'),
  params: z.looseObject({
    progressToken: progressTokenSchema,
    progress: z.number(),
    total: z.number().optional(),
    message: z.string().optional(),
  }),
})
export const cancelledNotificationSchema = z.looseObject({
  method: z.literal('notifications/cancelled'),
  params: z.looseObject({ requestId: requestIdSchema, reason: z.string().optional() }),
})

// what servers ask of clients

const samplingContent: z.ZodType<TextContent | ImageContent | AudioContent> = z.discriminatedUnion('type', [
  textContentSchema,
  imageContentSchema,
  audioContentSchema,
])
export const samplingMessageSchema = z.looseObject({ role: roleSchema, content: samplingContent })
export interface SamplingMessage extends z.infer<typeof samplingMessageSchema> {}
const samplingMessage: z.ZodType<SamplingMessage> = samplingMessageSchema
export const createMessageRequestSchema = z.looseObject({
  method: z.literal('sampling/createMessage'),
  params: z.looseObject({ ...samplingParamsShape, messages: z.array(samplingMessage), _meta: requestMeta }),
})
export const createMessageResultSchema = resultSchema.extend({
  role: roleSchema,
  content: samplingContent,
  model: z.string(),
  stopReason: z.string().optional(),
})

export const listRootsRequestSchema = z.looseObject({ method: z.literal('roots/list'), params: anyRequestParams })
export const listRootsResultSchema = resultSchema.extend({ roots: z.array(rootSchema) })
export const rootsListChangedNotificationSchema = z.looseObject({
  method: z.literal('notifications/roots/list_changed'),
  params: anyParams,
})

const titled = { title: z.string().optional(), description: z.string().optional() }
export const stringSchemaSchema = z.looseObject({
  type: z.literal('string'),
  ...titled,
  minLength: z.int().optional(),
  maxLength: z.int().optional(),
  format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
})
export const numberSchemaSchema = z.looseObject({
  type: z.enum(['number', 'integer']),
  ...titled,
  minimum: z.number().optional(),
  maximum: z.number().optional(),
})
export const enumSchemaSchema = z.looseObject({
  type: z.literal('string'),
  ...titled,
  enum: z.array(z.string()),
  enumNames: z.array(z.string()).optional(),
})
export interface StringSchema extends z.infer<typeof stringSchemaSchema> {}
export interface NumberSchema extends z.infer<typeof numberSchemaSchema> {}
export interface EnumSchema extends z.infer<typeof enumSchemaSchema> {}
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema
export const primitiveSchemaDefinitionSchema: z.ZodType<PrimitiveSchemaDefinition> = z.union([
  stringSchemaSchema,
  numberSchemaSchema,
  booleanSchemaSchema,
  enumSchemaSchema,
])
export const elicitRequestSchema = z.looseObject({
  method: z.literal('elicitation/create'),
  params: z.looseObject({
    message: z.string(),
    requestedSchema: z.looseObject({
      type: z.literal('object'),
      properties: z.record(z.string(), primitiveSchemaDefinitionSchema),
      required: z.array(z.string()).optional(),
    }),
    _meta: requestMeta,
  }),
})
export const elicitResultSchema = resultSchema.extend({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
})

// by direction

export const clientRequestSchema = z.discriminatedUnion('method', [
  initializeRequestSchema,
  pingRequestSchema,
  listResourcesRequestSchema,
  listResourceTemplatesRequestSchema,
  readResourceRequestSchema,
  subscribeRequestSchema,
  unsubscribeRequestSchema,
  listPromptsRequestSchema,
  getPromptRequestSchema,
  listToolsRequestSchema,
  callToolRequestSchema,
  setLevelRequestSchema,
  completeRequestSchema,
])
export const clientNotificationSchema = z.discriminatedUnion('method', [
  cancelledNotificationSchema,
  initializedNotificationSchema,
  progressNotificationSchema,
  rootsListChangedNotificationSchema,
])
export const serverRequestSchema = z.discriminatedUnion('method', [
  pingRequestSchema,
  createMessageRequestSchema,
  listRootsRequestSchema,
  elicitRequestSchema,
])
export const serverNotificationSchema = z.discriminatedUnion('method', [
  cancelledNotificationSchema,
  progressNotificationSchema,
  resourceListChangedNotificationSchema,
  resourceUpdatedNotificationSchema,
  promptListChangedNotificationSchema,
  toolListChangedNotificationSchema,
  loggingMessageNotificationSchema,
])
/** Any object is a `Result`, so these unions accept what the plain one accepts. To check a result, take that of its method. */
export const clientResultSchema = resultSchema
export const serverResultSchema = resultSchema

/** The result that answers a request of this method. */
export const resultSchemas = {
  initialize: initializeResultSchema,
  ping: emptyResultSchema,
  'resources/list': listResourcesResultSchema,
  'resources/templates/list': listResourceTemplatesResultSchema,
  'resources/read': readResourceResultSchema,
  'resources/subscribe': emptyResultSchema,
  'resources/unsubscribe': emptyResultSchema,
  'prompts/list': listPromptsResultSchema,
  'prompts/get': getPromptResultSchema,
  'tools/list': listToolsResultSchema,
  'tools/call': callToolResultSchema,
  'logging/setLevel': emptyResultSchema,
  'completion/complete': completeResultSchema,
  'sampling/createMessage': createMessageResultSchema,
  'roots/list': listRootsResultSchema,
  'elicitation/create': elicitResultSchema,
}

// the types that no other type here is made of

export interface CallToolRequest extends z.infer<typeof callToolRequestSchema> {}
export interface CallToolResult extends z.infer<typeof callToolResultSchema> {}
export interface CancelledNotification extends z.infer<typeof cancelledNotificationSchema> {}
export type ClientNotification = z.infer<typeof clientNotificationSchema>
export type ClientRequest = z.infer<typeof clientRequestSchema>
export interface ClientResult extends z.infer<typeof clientResultSchema> {}
export interface CompleteRequest extends z.infer<typeof completeRequestSchema> {}
export interface CompleteResult extends z.infer<typeof completeResultSchema> {}
export interface CreateMessageRequest extends z.infer<typeof createMessageRequestSchema> {}
export interface CreateMessageResult extends z.infer<typeof createMessageResultSchema> {}
export interface ElicitRequest extends z.infer<typeof elicitRequestSchema> {}
export interface ElicitResult extends z.infer<typeof elicitResultSchema> {}
export interface EmptyResult extends z.infer<typeof emptyResultSchema> {}
export interface GetPromptRequest extends z.infer<typeof getPromptRequestSchema> {}
export interface GetPromptResult extends z.infer<typeof getPromptResultSchema> {}
export interface InitializeRequest extends z.infer<typeof initializeRequestSchema> {}
export interface InitializeResult extends z.infer<typeof initializeResultSchema> {}
export interface InitializedNotification extends z.infer<typeof initializedNotificationSchema> {}
export interface JSONRPCError extends z.infer<typeof jsonrpcErrorSchema> {}
export type JSONRPCMessage = z.infer<typeof jsonrpcMessageSchema>
export interface JSONRPCNotification extends z.infer<typeof jsonrpcNotificationSchema> {}
export interface JSONRPCRequest extends z.infer<typeof jsonrpcRequestSchema> {}
export interface JSONRPCResponse extends z.infer<typeof jsonrpcResponseSchema> {}
export interface ListPromptsRequest extends z.infer<typeof listPromptsRequestSchema> {}
export interface ListPromptsResult extends z.infer<typeof listPromptsResultSchema> {}
export interface ListResourceTemplatesRequest extends z.infer<typeof listResourceTemplatesRequestSchema> {}
export interface ListResourceTemplatesResult extends z.infer<typeof listResourceTemplatesResultSchema> {}
export interface ListResourcesRequest extends z.infer<typeof listResourcesRequestSchema> {}
export interface ListResourcesResult extends z.infer<typeof listResourcesResultSchema> {}
export interface ListRootsRequest extends z.infer<typeof listRootsRequestSchema> {}
export interface ListRootsResult extends z.infer<typeof listRootsResultSchema> {}
export interface ListToolsRequest extends z.infer<typeof listToolsRequestSchema> {}
export interface ListToolsResult extends z.infer<typeof listToolsResultSchema> {}
export interface LoggingMessageNotification extends z.infer<typeof loggingMessageNotificationSchema> {}
export interface Notification extends z.infer<typeof notificationSchema> {}
export interface PaginatedRequest extends z.infer<typeof paginatedRequestSchema> {}
export interface PaginatedResult extends z.infer<typeof paginatedResultSchema> {}
export interface PingRequest extends z.infer<typeof pingRequestSchema> {}
export interface ProgressNotification extends z.infer<typeof progressNotificationSchema> {}
export interface PromptListChangedNotification extends z.infer<typeof promptListChangedNotificationSchema> {}
export interface ReadResourceRequest extends z.infer<typeof readResourceRequestSchema> {}
export interface ReadResourceResult extends z.infer<typeof readResourceResultSchema> {}
export interface Request extends z.infer<typeof requestSchema> {}
export interface ResourceListChangedNotification extends z.infer<typeof resourceListChangedNotificationSchema> {}
export interface ResourceUpdatedNotification extends z.infer<typeof resourceUpdatedNotificationSchema> {}
export interface RootsListChangedNotification extends z.infer<typeof rootsListChangedNotificationSchema> {}
export type ServerNotification = z.infer<typeof serverNotificationSchema>
export type ServerRequest = z.infer<typeof serverRequestSchema>
export interface ServerResult extends z.infer<typeof serverResultSchema> {}
export interface SetLevelRequest extends z.infer<typeof setLevelRequestSchema> {}
export interface SubscribeRequest extends z.infer<typeof subscribeRequestSchema> {}
export interface ToolListChangedNotification extends z.infer<typeof toolListChangedNotificationSchema> {}
export interface UnsubscribeRequest extends z.infer<typeof unsubscribeRequestSchema> {}
