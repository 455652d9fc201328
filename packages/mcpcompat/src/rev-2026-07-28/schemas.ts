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

// JSON values

export const jsonValueSchema = z.unknown()
export const jsonObjectSchema = objectSchema
export const jsonArraySchema = z.array(jsonValueSchema)

// who speaks

export const iconSchema = z.looseObject({
  src: z.string(),
  mimeType: z.string().optional(),
  sizes: z.array(z.string()).optional(),
  theme: z.enum(['light', 'dark']).optional(),
})
export interface Icon extends z.infer<typeof iconSchema> {}
const icons: z.ZodType<Icon[]> = z.array(iconSchema)
export const iconsSchema = z.looseObject({ icons: icons.optional() })

export const implementationSchema = baseMetadataSchema.extend({
  version: z.string(),
  description: z.string().optional(),
  websiteUrl: z.string().optional(),
  icons: icons.optional(),
})
export const clientCapabilitiesSchema = z.looseObject({
  experimental: z.record(z.string(), objectSchema).optional(),
  extensions: z.record(z.string(), objectSchema).optional(),
  roots: objectSchema.optional(),
  sampling: z.looseObject({ context: objectSchema.optional(), tools: objectSchema.optional() }).optional(),
  elicitation: z.looseObject({ form: objectSchema.optional(), url: objectSchema.optional() }).optional(),
})
export const serverCapabilitiesSchema = z.looseObject({
  experimental: z.record(z.string(), objectSchema).optional(),
  extensions: z.record(z.string(), objectSchema).optional(),
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

// _meta, params and results

export const metaObjectSchema = objectSchema
export const requestMetaObjectSchema = z.looseObject({
  progressToken: progressTokenSchema.optional(),
  'io.modelcontextprotocol/protocolVersion': z.string(),
  'io.modelcontextprotocol/clientInfo': implementation.optional(),
  'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
  'io.modelcontextprotocol/logLevel': loggingLevelSchema.optional(),
})
export const notificationMetaObjectSchema = z.looseObject({
  'io.modelcontextprotocol/subscriptionId': requestIdSchema.optional(),
})
export const resultMetaObjectSchema = z.looseObject({
  'io.modelcontextprotocol/serverInfo': implementation.optional(),
})
export interface RequestMetaObject extends z.infer<typeof requestMetaObjectSchema> {}
export interface NotificationMetaObject extends z.infer<typeof notificationMetaObjectSchema> {}
export interface ResultMetaObject extends z.infer<typeof resultMetaObjectSchema> {}
const requestMeta: z.ZodType<RequestMetaObject> = requestMetaObjectSchema
const notificationMeta: z.ZodType<NotificationMetaObject> = notificationMetaObjectSchema
const resultMeta: z.ZodType<ResultMetaObject> = resultMetaObjectSchema

export const requestParamsSchema = z.looseObject({ _meta: requestMeta })
export const paginatedRequestParamsSchema = requestParamsSchema.extend({ cursor: cursorSchema.optional() })
export const resourceRequestParamsSchema = requestParamsSchema.extend({ uri: z.string() })
export const notificationParamsSchema = z.looseObject({ _meta: notificationMeta.optional() })

/** `complete`, `input_required`, or one of an extension or of a later revision. */
export const resultTypeSchema = z.string()
export const resultSchema = z.looseObject({ resultType: resultTypeSchema, _meta: resultMeta.optional() })
export const emptyResultSchema = resultSchema
export const paginatedResultSchema = resultSchema.extend({ nextCursor: cursorSchema.optional() })
export const cacheableResultSchema = resultSchema.extend({
  ttlMs: z.int().min(0),
  cacheScope: z.enum(['public', 'private']),
})
const cacheableListSchema = cacheableResultSchema.extend({ nextCursor: cursorSchema.optional() })
export interface Result extends z.infer<typeof resultSchema> {}

// JSON-RPC

const anyParams = objectSchema.optional()
export const requestSchema = z.looseObject({ method: z.string(), params: anyParams })
export const notificationSchema = z.looseObject({ method: z.string(), params: anyParams })
export const jsonrpcRequestSchema = requestSchema.extend({ jsonrpc: z.literal('2.0'), id: requestIdSchema })
export const paginatedRequestSchema = jsonrpcRequestSchema.extend({ params: paginatedRequestParamsSchema })
export const jsonrpcNotificationSchema = notificationSchema.extend({ jsonrpc: z.literal('2.0') })
export const jsonrpcResultResponseSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: requestIdSchema,
  result: resultSchema,
})
export const errorSchema = z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() })
export const jsonrpcErrorResponseSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: requestIdSchema.optional(),
  error: errorSchema,
})
export const jsonrpcResponseSchema = z.union([jsonrpcResultResponseSchema, jsonrpcErrorResponseSchema])
export const jsonrpcMessageSchema = z.union([
  jsonrpcRequestSchema,
  jsonrpcNotificationSchema,
  jsonrpcResultResponseSchema,
  jsonrpcErrorResponseSchema,
])

export const parseErrorSchema = errorSchema.extend({ code: z.literal(-32700) })
export const invalidRequestErrorSchema = errorSchema.extend({ code: z.literal(-32600) })
export const methodNotFoundErrorSchema = errorSchema.extend({ code: z.literal(-32601) })
export const invalidParamsErrorSchema = errorSchema.extend({ code: z.literal(-32602) })
export const internalErrorSchema = errorSchema.extend({ code: z.literal(-32603) })
export const headerMismatchErrorSchema = jsonrpcErrorResponseSchema.extend({
  error: errorSchema.extend({ code: z.literal(-32020) }),
})
export const missingRequiredClientCapabilityErrorSchema = jsonrpcErrorResponseSchema.extend({
  error: errorSchema.extend({
    code: z.literal(-32021),
    data: z.looseObject({ requiredCapabilities: clientCapabilities }),
  }),
})
export const unsupportedProtocolVersionErrorSchema = jsonrpcErrorResponseSchema.extend({
  error: errorSchema.extend({
    code: z.literal(-32022),
    data: z.looseObject({ supported: z.array(z.string()), requested: z.string() }),
  }),
})

// discovery

export const discoverRequestSchema = jsonrpcRequestSchema.extend({
  method: z.literal('server/discover'),
  params: requestParamsSchema,
})
export const discoverResultSchema = cacheableResultSchema.extend({
  supportedVersions: z.array(z.string()),
  capabilities: serverCapabilities,
  instructions: z.string().optional(),
})
export const discoverResultResponseSchema = jsonrpcResultResponseSchema.extend({ result: discoverResultSchema })

// resources

export const resourceSchema = baseMetadataSchema.extend({
  uri: z.string(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  annotations: annotationsSchema.optional(),
  size: z.int().optional(),
  icons: icons.optional(),
  _meta: objectSchema.optional(),
})
export const resourceLinkSchema = resourceSchema.extend({ type: z.literal('resource_link') })
export const resourceTemplateSchema = baseMetadataSchema.extend({
  uriTemplate: z.string(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  annotations: annotationsSchema.optional(),
  icons: icons.optional(),
  _meta: objectSchema.optional(),
})
export interface Resource extends z.infer<typeof resourceSchema> {}
export interface ResourceLink extends z.infer<typeof resourceLinkSchema> {}
export interface ResourceTemplate extends z.infer<typeof resourceTemplateSchema> {}
const resource: z.ZodType<Resource> = resourceSchema
const resourceTemplate: z.ZodType<ResourceTemplate> = resourceTemplateSchema

// content blocks

export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
export const contentBlockSchema: z.ZodType<ContentBlock> = z.discriminatedUnion('type', [
  textContentSchema,
  imageContentSchema,
  audioContentSchema,
  resourceLinkSchema,
  embeddedResourceSchema,
])
export const toolUseContentSchema = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: objectSchema,
  _meta: objectSchema.optional(),
})
export const toolResultContentSchema = z.looseObject({
  type: z.literal('tool_result'),
  toolUseId: z.string(),
  content: z.array(contentBlockSchema),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
  _meta: objectSchema.optional(),
})
export interface ToolUseContent extends z.infer<typeof toolUseContentSchema> {}
export interface ToolResultContent extends z.infer<typeof toolResultContentSchema> {}
export type SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
export const samplingMessageContentBlockSchema: z.ZodType<SamplingMessageContentBlock> = z.discriminatedUnion('type', [
  textContentSchema,
  imageContentSchema,
  audioContentSchema,
  toolUseContentSchema,
  toolResultContentSchema,
])

// tools as definitions, since sampling offers them too

export const toolSchema = baseMetadataSchema.extend({
  description: z.string().optional(),
  inputSchema: z.looseObject({ $schema: z.string().optional(), type: z.literal('object') }),
  outputSchema: z.looseObject({ $schema: z.string().optional() }).optional(),
  annotations: toolAnnotationsSchema.optional(),
  icons: icons.optional(),
  _meta: objectSchema.optional(),
})
export const toolChoiceSchema = z.looseObject({ mode: z.enum(['auto', 'required', 'none']).optional() })
export interface Tool extends z.infer<typeof toolSchema> {}
const tool: z.ZodType<Tool> = toolSchema

// what servers ask of clients (MRTR)

const samplingContent: z.ZodType<SamplingMessageContentBlock | SamplingMessageContentBlock[]> = z.union([
  samplingMessageContentBlockSchema,
  z.array(samplingMessageContentBlockSchema),
])
export const samplingMessageSchema = z.looseObject({
  role: roleSchema,
  content: samplingContent,
  _meta: objectSchema.optional(),
})
export interface SamplingMessage extends z.infer<typeof samplingMessageSchema> {}
const samplingMessage: z.ZodType<SamplingMessage> = samplingMessageSchema
export const createMessageRequestParamsSchema = z.looseObject({
  ...samplingParamsShape,
  messages: z.array(samplingMessage),
  tools: z.array(tool).optional(),
  toolChoice: toolChoiceSchema.optional(),
})
export const createMessageRequestSchema = z.looseObject({
  method: z.literal('sampling/createMessage'),
  params: createMessageRequestParamsSchema,
})
export const createMessageResultSchema = z.looseObject({
  role: roleSchema,
  content: samplingContent,
  model: z.string(),
  stopReason: z.string().optional(),
  _meta: objectSchema.optional(),
})

export const listRootsRequestSchema = z.looseObject({
  method: z.literal('roots/list'),
  params: z.looseObject({ _meta: objectSchema.optional() }).optional(),
})
export const listRootsResultSchema = z.looseObject({ roots: z.array(rootSchema) })

const titled = { title: z.string().optional(), description: z.string().optional() }
const titledChoices = z.array(z.looseObject({ const: z.string(), title: z.string() }))
export const stringSchemaSchema = z.looseObject({
  type: z.literal('string'),
  ...titled,
  minLength: z.int().optional(),
  maxLength: z.int().optional(),
  format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
  default: z.string().optional(),
})
export const numberSchemaSchema = z.looseObject({
  type: z.enum(['number', 'integer']),
  ...titled,
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  default: z.number().optional(),
})
export const untitledSingleSelectEnumSchemaSchema = z.looseObject({
  type: z.literal('string'),
  ...titled,
  enum: z.array(z.string()),
  default: z.string().optional(),
})
export const legacyTitledEnumSchemaSchema = untitledSingleSelectEnumSchemaSchema.extend({
  enumNames: z.array(z.string()).optional(),
})
export const titledSingleSelectEnumSchemaSchema = z.looseObject({
  type: z.literal('string'),
  ...titled,
  oneOf: titledChoices,
  default: z.string().optional(),
})
const multiSelect = {
  type: z.literal('array'),
  ...titled,
  minItems: z.int().optional(),
  maxItems: z.int().optional(),
  default: z.array(z.string()).optional(),
}
export const untitledMultiSelectEnumSchemaSchema = z.looseObject({
  ...multiSelect,
  items: z.looseObject({ type: z.literal('string'), enum: z.array(z.string()) }),
})
export const titledMultiSelectEnumSchemaSchema = z.looseObject({
  ...multiSelect,
  items: z.looseObject({ anyOf: titledChoices }),
})
export interface StringSchema extends z.infer<typeof stringSchemaSchema> {}
export interface NumberSchema extends z.infer<typeof numberSchemaSchema> {}
export interface UntitledSingleSelectEnumSchema extends z.infer<typeof untitledSingleSelectEnumSchemaSchema> {}
export interface TitledSingleSelectEnumSchema extends z.infer<typeof titledSingleSelectEnumSchemaSchema> {}
export interface UntitledMultiSelectEnumSchema extends z.infer<typeof untitledMultiSelectEnumSchemaSchema> {}
export interface TitledMultiSelectEnumSchema extends z.infer<typeof titledMultiSelectEnumSchemaSchema> {}
export interface LegacyTitledEnumSchema extends z.infer<typeof legacyTitledEnumSchemaSchema> {}
export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema
export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema
export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema
export const singleSelectEnumSchemaSchema: z.ZodType<SingleSelectEnumSchema> = z.union([
  untitledSingleSelectEnumSchemaSchema,
  titledSingleSelectEnumSchemaSchema,
])
export const multiSelectEnumSchemaSchema: z.ZodType<MultiSelectEnumSchema> = z.union([
  untitledMultiSelectEnumSchemaSchema,
  titledMultiSelectEnumSchemaSchema,
])
export const enumSchemaSchema: z.ZodType<EnumSchema> = z.union([
  singleSelectEnumSchemaSchema,
  multiSelectEnumSchemaSchema,
  legacyTitledEnumSchemaSchema,
])
export const primitiveSchemaDefinitionSchema: z.ZodType<PrimitiveSchemaDefinition> = z.union([
  stringSchemaSchema,
  numberSchemaSchema,
  booleanSchemaSchema,
  enumSchemaSchema,
])

export const elicitRequestFormParamsSchema = z.looseObject({
  mode: z.literal('form').optional(),
  message: z.string(),
  requestedSchema: z.looseObject({
    $schema: z.string().optional(),
    type: z.literal('object'),
    properties: z.record(z.string(), primitiveSchemaDefinitionSchema),
    required: z.array(z.string()).optional(),
  }),
})
export const elicitRequestURLParamsSchema = z.looseObject({
  mode: z.literal('url'),
  message: z.string(),
  url: z.string(),
})
export const elicitRequestParamsSchema = z.union([elicitRequestFormParamsSchema, elicitRequestURLParamsSchema])
export const elicitRequestSchema = z.looseObject({
  method: z.literal('elicitation/create'),
  params: elicitRequestParamsSchema,
})
export const elicitResultSchema = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).optional(),
})

export interface CreateMessageRequest extends z.infer<typeof createMessageRequestSchema> {}
export interface CreateMessageResult extends z.infer<typeof createMessageResultSchema> {}
export interface ListRootsRequest extends z.infer<typeof listRootsRequestSchema> {}
export interface ListRootsResult extends z.infer<typeof listRootsResultSchema> {}
export interface ElicitRequest extends z.infer<typeof elicitRequestSchema> {}
export interface ElicitResult extends z.infer<typeof elicitResultSchema> {}
export type InputRequest = CreateMessageRequest | ListRootsRequest | ElicitRequest
export type InputResponse = CreateMessageResult | ListRootsResult | ElicitResult
export const inputRequestSchema: z.ZodType<InputRequest> = z.discriminatedUnion('method', [
  createMessageRequestSchema,
  listRootsRequestSchema,
  elicitRequestSchema,
])
export const inputResponseSchema: z.ZodType<InputResponse> = z.union([
  createMessageResultSchema,
  listRootsResultSchema,
  elicitResultSchema,
])
export const inputRequestsSchema = z.record(z.string(), inputRequestSchema)
export const inputResponsesSchema = z.record(z.string(), inputResponseSchema)
export const inputRequiredResultSchema = resultSchema.extend({
  inputRequests: inputRequestsSchema.optional(),
  requestState: z.string().optional(),
})
export const inputResponseRequestParamsSchema = requestParamsSchema.extend({
  inputResponses: inputResponsesSchema.optional(),
  requestState: z.string().optional(),
})
export interface InputRequiredResult extends z.infer<typeof inputRequiredResultSchema> {}
const inputRequiredResult: z.ZodType<InputRequiredResult> = inputRequiredResultSchema

// resources

export const listResourcesRequestSchema = paginatedRequestSchema.extend({ method: z.literal('resources/list') })
export const listResourcesResultSchema = cacheableListSchema.extend({ resources: z.array(resource) })
export const listResourcesResultResponseSchema = jsonrpcResultResponseSchema.extend({
  result: listResourcesResultSchema,
})
export const listResourceTemplatesRequestSchema = paginatedRequestSchema.extend({
  method: z.literal('resources/templates/list'),
})
export const listResourceTemplatesResultSchema = cacheableListSchema.extend({
  resourceTemplates: z.array(resourceTemplate),
})
export const listResourceTemplatesResultResponseSchema = jsonrpcResultResponseSchema.extend({
  result: listResourceTemplatesResultSchema,
})
export const readResourceRequestParamsSchema = inputResponseRequestParamsSchema.extend({ uri: z.string() })
export const readResourceRequestSchema = jsonrpcRequestSchema.extend({
  method: z.literal('resources/read'),
  params: readResourceRequestParamsSchema,
})
export const readResourceResultSchema = cacheableResultSchema.extend({ contents: z.array(anyResourceContentsSchema) })
export interface ReadResourceResult extends z.infer<typeof readResourceResultSchema> {}
const readResourceResult: z.ZodType<ReadResourceResult> = readResourceResultSchema
export const readResourceResultResponseSchema = jsonrpcResultResponseSchema.extend({
  result: z.union([inputRequiredResult, readResourceResult]),
})

// prompts

export const promptSchema = baseMetadataSchema.extend({
  description: z.string().optional(),
  arguments: z.array(promptArgumentSchema).optional(),
  icons: icons.optional(),
  _meta: objectSchema.optional(),
})
export const promptMessageSchema = z.looseObject({ role: roleSchema, content: contentBlockSchema })
export interface Prompt extends z.infer<typeof promptSchema> {}
export interface PromptMessage extends z.infer<typeof promptMessageSchema> {}
const prompt: z.ZodType<Prompt> = promptSchema
const promptMessage: z.ZodType<PromptMessage> = promptMessageSchema

export const listPromptsRequestSchema = paginatedRequestSchema.extend({ method: z.literal('prompts/list') })
export const listPromptsResultSchema = cacheableListSchema.extend({ prompts: z.array(prompt) })
export const listPromptsResultResponseSchema = jsonrpcResultResponseSchema.extend({ result: listPromptsResultSchema })
export const getPromptRequestParamsSchema = inputResponseRequestParamsSchema.extend({
  name: z.string(),
  arguments: z.record(z.string(), z.string()).optional(),
})
export const getPromptRequestSchema = jsonrpcRequestSchema.extend({
  method: z.literal('prompts/get'),
  params: getPromptRequestParamsSchema,
})
export const getPromptResultSchema = resultSchema.extend({
  description: z.string().optional(),
  messages: z.array(promptMessage),
})
export interface GetPromptResult extends z.infer<typeof getPromptResultSchema> {}
const getPromptResult: z.ZodType<GetPromptResult> = getPromptResultSchema
export const getPromptResultResponseSchema = jsonrpcResultResponseSchema.extend({
  result: z.union([inputRequiredResult, getPromptResult]),
})

// tools

export const listToolsRequestSchema = paginatedRequestSchema.extend({ method: z.literal('tools/list') })
export const listToolsResultSchema = cacheableListSchema.extend({ tools: z.array(tool) })
export const listToolsResultResponseSchema = jsonrpcResultResponseSchema.extend({ result: listToolsResultSchema })
export const callToolRequestParamsSchema = inputResponseRequestParamsSchema.extend({
  name: z.string(),
  arguments: objectSchema.optional(),
})
export const callToolRequestSchema = jsonrpcRequestSchema.extend({
  method: z.literal('tools/call'),
  params: callToolRequestParamsSchema,
})
export const callToolResultSchema = resultSchema.extend({
  content: z.array(contentBlockSchema),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
})
export interface CallToolResult extends z.infer<typeof callToolResultSchema> {}
const callToolResult: z.ZodType<CallToolResult> = callToolResultSchema
export const callToolResultResponseSchema = jsonrpcResultResponseSchema.extend({
  result: z.union([inputRequiredResult, callToolResult]),
})

// completion

export const completeRequestParamsSchema = requestParamsSchema.extend(completionParamsShape)
export const completeRequestSchema = jsonrpcRequestSchema.extend({
  method: z.literal('completion/complete'),
  params: completeRequestParamsSchema,
})
export const completeResultSchema = resultSchema.extend({
  completion: z.looseObject({
    values: z.array(z.string()).max(100),
    total: z.int().optional(),
    hasMore: z.boolean().optional(),
  }),
})
export const completeResultResponseSchema = jsonrpcResultResponseSchema.extend({ result: completeResultSchema })

// subscriptions

export const subscriptionFilterSchema = z.looseObject({
  toolsListChanged: z.boolean().optional(),
  promptsListChanged: z.boolean().optional(),
  resourcesListChanged: z.boolean().optional(),
  resourceSubscriptions: z.array(z.string()).optional(),
})
export interface SubscriptionFilter extends z.infer<typeof subscriptionFilterSchema> {}
const subscriptionFilter: z.ZodType<SubscriptionFilter> = subscriptionFilterSchema
export const subscriptionsListenRequestParamsSchema = requestParamsSchema.extend({ notifications: subscriptionFilter })
export const subscriptionsListenRequestSchema = jsonrpcRequestSchema.extend({
  method: z.literal('subscriptions/listen'),
  params: subscriptionsListenRequestParamsSchema,
})
export const subscriptionsListenResultMetaObjectSchema = resultMetaObjectSchema.extend({
  'io.modelcontextprotocol/subscriptionId': requestIdSchema,
})
export const subscriptionsListenResultSchema = resultSchema.extend({ _meta: subscriptionsListenResultMetaObjectSchema })
export const subscriptionsListenResultResponseSchema = jsonrpcResultResponseSchema.extend({
  result: subscriptionsListenResultSchema,
})
export const subscriptionsAcknowledgedNotificationParamsSchema = notificationParamsSchema.extend({
  notifications: subscriptionFilter,
})
export const subscriptionsAcknowledgedNotificationSchema = jsonrpcNotificationSchema.extend({
  method: z.literal('notifications/subscriptions/acknowledged'),
  params: subscriptionsAcknowledgedNotificationParamsSchema,
})

// notifications

export const toolListChangedNotificationSchema = jsonrpcNotificationSchema.extend({
  method: z.literal('notifications/tools/list_changed'),
  params: notificationParamsSchema.optional(),
})
export const promptListChangedNotificationSchema = jsonrpcNotificationSchema.extend({
  method: z.literal('notifications/prompts/list_changed'),
  params: notificationParamsSchema.optional(),
})
export const resourceListChangedNotificationSchema = jsonrpcNotificationSchema.extend({
  method: z.literal('notifications/resources/list_changed'),
  params: notificationParamsSchema.optional(),
})
export const resourceUpdatedNotificationParamsSchema = notificationParamsSchema.extend({ uri: z.string() })
export const resourceUpdatedNotificationSchema = jsonrpcNotificationSchema.extend({
  method: z.literal('notifications/resources/updated'),
  params: resourceUpdatedNotificationParamsSchema,
})
export const loggingMessageNotificationParamsSchema = notificationParamsSchema.extend({
  level: loggingLevelSchema,
  logger: z.string().optional(),
  data: anyValueSchema,
})
export const loggingMessageNotificationSchema = jsonrpcNotificationSchema.extend({
  method: z.literal('notifications/message'),
  params: loggingMessageNotificationParamsSchema,
})
export const progressNotificationParamsSchema = notificationParamsSchema.extend({
  progressToken: progressTokenSchema,
  progress: z.number(),
  total: z.number().optional(),
  message: z.string().optional(),
})
export const progressNotificationSchema = jsonrpcNotificationSchema.extend({
  method: z.literal('notifications/progress'),
  params: progressNotificationParamsSchema,
})
export const cancelledNotificationParamsSchema = notificationParamsSchema.extend({
  requestId: requestIdSchema,
  reason: z.string().optional(),
})
export const cancelledNotificationSchema = jsonrpcNotificationSchema.extend({
  method: z.literal('notifications/cancelled'),
  params: cancelledNotificationParamsSchema,
})

// by direction

export const clientRequestSchema = z.discriminatedUnion('method', [
  discoverRequestSchema,
  listResourcesRequestSchema,
  listResourceTemplatesRequestSchema,
  readResourceRequestSchema,
  subscriptionsListenRequestSchema,
  listPromptsRequestSchema,
  getPromptRequestSchema,
  listToolsRequestSchema,
  callToolRequestSchema,
  completeRequestSchema,
])
export const clientNotificationSchema = cancelledNotificationSchema
export const serverNotificationSchema = z.discriminatedUnion('method', [
  cancelledNotificationSchema,
  progressNotificationSchema,
  resourceListChangedNotificationSchema,
  subscriptionsAcknowledgedNotificationSchema,
  resourceUpdatedNotificationSchema,
  promptListChangedNotificationSchema,
  toolListChangedNotificationSchema,
  loggingMessageNotificationSchema,
])
/** Any result is a `Result`, so these unions accept what the plain one accepts. To check a result, take that of its method. */
export const clientResultSchema = resultSchema
export const serverResultSchema = resultSchema

/** The complete result that answers a request of this method. Any of the three that may ask can also be an `InputRequiredResult`. */
export const resultSchemas = {
  'server/discover': discoverResultSchema,
  'resources/list': listResourcesResultSchema,
  'resources/templates/list': listResourceTemplatesResultSchema,
  'resources/read': readResourceResultSchema,
  'subscriptions/listen': subscriptionsListenResultSchema,
  'prompts/list': listPromptsResultSchema,
  'prompts/get': getPromptResultSchema,
  'tools/list': listToolsResultSchema,
  'tools/call': callToolResultSchema,
  'completion/complete': completeResultSchema,
  'sampling/createMessage': createMessageResultSchema,
  'roots/list': listRootsResultSchema,
  'elicitation/create': elicitResultSchema,
}

// the types that no other type here is made of

export interface CacheableResult extends z.infer<typeof cacheableResultSchema> {}
export interface CallToolRequest extends z.infer<typeof callToolRequestSchema> {}
export interface CallToolRequestParams extends z.infer<typeof callToolRequestParamsSchema> {}
export interface CallToolResultResponse extends z.infer<typeof callToolResultResponseSchema> {}
export interface CancelledNotification extends z.infer<typeof cancelledNotificationSchema> {}
export interface CancelledNotificationParams extends z.infer<typeof cancelledNotificationParamsSchema> {}
export interface ClientNotification extends z.infer<typeof clientNotificationSchema> {}
export type ClientRequest = z.infer<typeof clientRequestSchema>
export interface ClientResult extends z.infer<typeof clientResultSchema> {}
export interface CompleteRequest extends z.infer<typeof completeRequestSchema> {}
export interface CompleteRequestParams extends z.infer<typeof completeRequestParamsSchema> {}
export interface CompleteResult extends z.infer<typeof completeResultSchema> {}
export interface CompleteResultResponse extends z.infer<typeof completeResultResponseSchema> {}
export interface CreateMessageRequestParams extends z.infer<typeof createMessageRequestParamsSchema> {}
export interface DiscoverRequest extends z.infer<typeof discoverRequestSchema> {}
export interface DiscoverResult extends z.infer<typeof discoverResultSchema> {}
export interface DiscoverResultResponse extends z.infer<typeof discoverResultResponseSchema> {}
export interface ElicitRequestFormParams extends z.infer<typeof elicitRequestFormParamsSchema> {}
export type ElicitRequestParams = z.infer<typeof elicitRequestParamsSchema>
export interface ElicitRequestURLParams extends z.infer<typeof elicitRequestURLParamsSchema> {}
export interface EmptyResult extends z.infer<typeof emptyResultSchema> {}
export interface Error extends z.infer<typeof errorSchema> {}
export interface GetPromptRequest extends z.infer<typeof getPromptRequestSchema> {}
export interface GetPromptRequestParams extends z.infer<typeof getPromptRequestParamsSchema> {}
export interface GetPromptResultResponse extends z.infer<typeof getPromptResultResponseSchema> {}
export interface HeaderMismatchError extends z.infer<typeof headerMismatchErrorSchema> {}
export interface Icons extends z.infer<typeof iconsSchema> {}
export type InputRequests = z.infer<typeof inputRequestsSchema>
export interface InputResponseRequestParams extends z.infer<typeof inputResponseRequestParamsSchema> {}
export type InputResponses = z.infer<typeof inputResponsesSchema>
export interface InternalError extends z.infer<typeof internalErrorSchema> {}
export interface InvalidParamsError extends z.infer<typeof invalidParamsErrorSchema> {}
export interface InvalidRequestError extends z.infer<typeof invalidRequestErrorSchema> {}
export type JSONArray = z.infer<typeof jsonArraySchema>
export interface JSONObject extends z.infer<typeof jsonObjectSchema> {}
export interface JSONRPCErrorResponse extends z.infer<typeof jsonrpcErrorResponseSchema> {}
export type JSONRPCMessage = z.infer<typeof jsonrpcMessageSchema>
export interface JSONRPCNotification extends z.infer<typeof jsonrpcNotificationSchema> {}
export interface JSONRPCRequest extends z.infer<typeof jsonrpcRequestSchema> {}
export type JSONRPCResponse = z.infer<typeof jsonrpcResponseSchema>
export interface JSONRPCResultResponse extends z.infer<typeof jsonrpcResultResponseSchema> {}
export type JSONValue = z.infer<typeof jsonValueSchema>
export interface ListPromptsRequest extends z.infer<typeof listPromptsRequestSchema> {}
export interface ListPromptsResult extends z.infer<typeof listPromptsResultSchema> {}
export interface ListPromptsResultResponse extends z.infer<typeof listPromptsResultResponseSchema> {}
export interface ListResourceTemplatesRequest extends z.infer<typeof listResourceTemplatesRequestSchema> {}
export interface ListResourceTemplatesResult extends z.infer<typeof listResourceTemplatesResultSchema> {}
export interface ListResourceTemplatesResultResponse
  extends z.infer<typeof listResourceTemplatesResultResponseSchema> {}
export interface ListResourcesRequest extends z.infer<typeof listResourcesRequestSchema> {}
export interface ListResourcesResult extends z.infer<typeof listResourcesResultSchema> {}
export interface ListResourcesResultResponse extends z.infer<typeof listResourcesResultResponseSchema> {}
export interface ListToolsRequest extends z.infer<typeof listToolsRequestSchema> {}
export interface ListToolsResult extends z.infer<typeof listToolsResultSchema> {}
export interface ListToolsResultResponse extends z.infer<typeof listToolsResultResponseSchema> {}
export interface LoggingMessageNotification extends z.infer<typeof loggingMessageNotificationSchema> {}
export interface LoggingMessageNotificationParams extends z.infer<typeof loggingMessageNotificationParamsSchema> {}
export interface MetaObject extends z.infer<typeof metaObjectSchema> {}
export interface MethodNotFoundError extends z.infer<typeof methodNotFoundErrorSchema> {}
export interface MissingRequiredClientCapabilityError
  extends z.infer<typeof missingRequiredClientCapabilityErrorSchema> {}
export interface Notification extends z.infer<typeof notificationSchema> {}
export interface NotificationParams extends z.infer<typeof notificationParamsSchema> {}
export interface PaginatedRequest extends z.infer<typeof paginatedRequestSchema> {}
export interface PaginatedRequestParams extends z.infer<typeof paginatedRequestParamsSchema> {}
export interface PaginatedResult extends z.infer<typeof paginatedResultSchema> {}
export interface ParseError extends z.infer<typeof parseErrorSchema> {}
export interface ProgressNotification extends z.infer<typeof progressNotificationSchema> {}
export interface ProgressNotificationParams extends z.infer<typeof progressNotificationParamsSchema> {}
export interface PromptListChangedNotification extends z.infer<typeof promptListChangedNotificationSchema> {}
export interface ReadResourceRequest extends z.infer<typeof readResourceRequestSchema> {}
export interface ReadResourceRequestParams extends z.infer<typeof readResourceRequestParamsSchema> {}
export interface ReadResourceResultResponse extends z.infer<typeof readResourceResultResponseSchema> {}
export interface Request extends z.infer<typeof requestSchema> {}
export interface RequestParams extends z.infer<typeof requestParamsSchema> {}
export interface ResourceListChangedNotification extends z.infer<typeof resourceListChangedNotificationSchema> {}
export interface ResourceRequestParams extends z.infer<typeof resourceRequestParamsSchema> {}
export interface ResourceUpdatedNotification extends z.infer<typeof resourceUpdatedNotificationSchema> {}
export interface ResourceUpdatedNotificationParams extends z.infer<typeof resourceUpdatedNotificationParamsSchema> {}
export type ResultType = z.infer<typeof resultTypeSchema>
export type ServerNotification = z.infer<typeof serverNotificationSchema>
export interface ServerResult extends z.infer<typeof serverResultSchema> {}
export interface SubscriptionsAcknowledgedNotification
  extends z.infer<typeof subscriptionsAcknowledgedNotificationSchema> {}
export interface SubscriptionsAcknowledgedNotificationParams
  extends z.infer<typeof subscriptionsAcknowledgedNotificationParamsSchema> {}
export interface SubscriptionsListenRequest extends z.infer<typeof subscriptionsListenRequestSchema> {}
export interface SubscriptionsListenRequestParams extends z.infer<typeof subscriptionsListenRequestParamsSchema> {}
export interface SubscriptionsListenResult extends z.infer<typeof subscriptionsListenResultSchema> {}
export interface SubscriptionsListenResultMetaObject
  extends z.infer<typeof subscriptionsListenResultMetaObjectSchema> {}
export interface SubscriptionsListenResultResponse extends z.infer<typeof subscriptionsListenResultResponseSchema> {}
export interface ToolChoice extends z.infer<typeof toolChoiceSchema> {}
export interface ToolListChangedNotification extends z.infer<typeof toolListChangedNotificationSchema> {}
export interface UnsupportedProtocolVersionError extends z.infer<typeof unsupportedProtocolVersionErrorSchema> {}
