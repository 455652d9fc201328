// Types that are the same in every revision for which there are schemas.
/* oxlint-disable typescript/no-empty-object-type -- an interface keeps its name in declarations, where an alias would be written out in full */
import * as z from 'zod'
import { logLevels } from './log-levels.ts'

/** Any object: `_meta`, and settings that have no members yet. */
export const objectSchema = z.looseObject({})

/** A value that must be there and may be any. */
export const anyValueSchema: z.ZodType<unknown> = z.custom((value) => value !== undefined, 'Required')

/** Integers that JavaScript holds exactly, as `parseMessage` demands them. */
export const requestIdSchema = z.union([z.string(), z.int()])
export const progressTokenSchema = z.union([z.string(), z.int()])
export const cursorSchema = z.string()
export const roleSchema = z.enum(['user', 'assistant'])
export const loggingLevelSchema = z.enum(logLevels)
export type RequestId = z.infer<typeof requestIdSchema>
export type ProgressToken = z.infer<typeof progressTokenSchema>
export type Cursor = z.infer<typeof cursorSchema>
export type Role = z.infer<typeof roleSchema>
export type LoggingLevel = z.infer<typeof loggingLevelSchema>

export const baseMetadataSchema = z.looseObject({ name: z.string(), title: z.string().optional() })
export interface BaseMetadata extends z.infer<typeof baseMetadataSchema> {}

export const annotationsSchema = z.looseObject({
  audience: z.array(roleSchema).optional(),
  priority: z.number().min(0).max(1).optional(),
  lastModified: z.string().optional(),
})
export interface Annotations extends z.infer<typeof annotationsSchema> {}
const annotations: z.ZodType<Annotations> = annotationsSchema

// contents and content blocks

export const resourceContentsSchema = z.looseObject({
  uri: z.string(),
  mimeType: z.string().optional(),
  _meta: objectSchema.optional(),
})
export const textResourceContentsSchema = resourceContentsSchema.extend({ text: z.string() })
export const blobResourceContentsSchema = resourceContentsSchema.extend({ blob: z.string() })
export interface ResourceContents extends z.infer<typeof resourceContentsSchema> {}
export interface TextResourceContents extends z.infer<typeof textResourceContentsSchema> {}
export interface BlobResourceContents extends z.infer<typeof blobResourceContentsSchema> {}

/** The contents of a resource, in one of both forms. */
export const anyResourceContentsSchema: z.ZodType<TextResourceContents | BlobResourceContents> = z.union([
  textResourceContentsSchema,
  blobResourceContentsSchema,
])

export const textContentSchema = z.looseObject({
  type: z.literal('text'),
  text: z.string(),
  annotations: annotations.optional(),
  _meta: objectSchema.optional(),
})
export const imageContentSchema = z.looseObject({
  type: z.literal('image'),
  data: z.string(),
  mimeType: z.string(),
  annotations: annotations.optional(),
  _meta: objectSchema.optional(),
})
export const audioContentSchema = z.looseObject({
  type: z.literal('audio'),
  data: z.string(),
  mimeType: z.string(),
  annotations: annotations.optional(),
  _meta: objectSchema.optional(),
})
export const embeddedResourceSchema = z.looseObject({
  type: z.literal('resource'),
  resource: anyResourceContentsSchema,
  annotations: annotations.optional(),
  _meta: objectSchema.optional(),
})
export interface TextContent extends z.infer<typeof textContentSchema> {}
export interface ImageContent extends z.infer<typeof imageContentSchema> {}
export interface AudioContent extends z.infer<typeof audioContentSchema> {}
export interface EmbeddedResource extends z.infer<typeof embeddedResourceSchema> {}

// tools, prompts, completion

export const toolAnnotationsSchema = z.looseObject({
  title: z.string().optional(),
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
})
export interface ToolAnnotations extends z.infer<typeof toolAnnotationsSchema> {}

export const promptArgumentSchema = baseMetadataSchema.extend({
  description: z.string().optional(),
  required: z.boolean().optional(),
})
export interface PromptArgument extends z.infer<typeof promptArgumentSchema> {}

export const promptReferenceSchema = baseMetadataSchema.extend({ type: z.literal('ref/prompt') })
export const resourceTemplateReferenceSchema = z.looseObject({ type: z.literal('ref/resource'), uri: z.string() })
export interface PromptReference extends z.infer<typeof promptReferenceSchema> {}
export interface ResourceTemplateReference extends z.infer<typeof resourceTemplateReferenceSchema> {}

/** The members of the params of `completion/complete` that both eras have. */
export const completionParamsShape = {
  ref: z.discriminatedUnion('type', [promptReferenceSchema, resourceTemplateReferenceSchema]),
  argument: z.looseObject({ name: z.string(), value: z.string() }),
  context: z.looseObject({ arguments: z.record(z.string(), z.string()).optional() }).optional(),
}

// sampling and roots

export const modelHintSchema = z.looseObject({ name: z.string().optional() })
export const modelPreferencesSchema = z.looseObject({
  hints: z.array(modelHintSchema).optional(),
  costPriority: z.number().min(0).max(1).optional(),
  speedPriority: z.number().min(0).max(1).optional(),
  intelligencePriority: z.number().min(0).max(1).optional(),
})
export interface ModelHint extends z.infer<typeof modelHintSchema> {}
export interface ModelPreferences extends z.infer<typeof modelPreferencesSchema> {}

/** The members of the params of `sampling/createMessage` that both eras have, save the messages. */
export const samplingParamsShape = {
  modelPreferences: modelPreferencesSchema.optional(),
  systemPrompt: z.string().optional(),
  includeContext: z.enum(['none', 'thisServer', 'allServers']).optional(),
  temperature: z.number().optional(),
  maxTokens: z.int(),
  stopSequences: z.array(z.string()).optional(),
  metadata: objectSchema.optional(),
}

export const rootSchema = z.looseObject({
  uri: z.string(),
  name: z.string().optional(),
  _meta: objectSchema.optional(),
})
export interface Root extends z.infer<typeof rootSchema> {}

// elicitation

export const booleanSchemaSchema = z.looseObject({
  type: z.literal('boolean'),
  title: z.string().optional(),
  description: z.string().optional(),
  default: z.boolean().optional(),
})
export interface BooleanSchema extends z.infer<typeof booleanSchemaSchema> {}
