// making a server
export type { Core, CreateCoreOptions } from './core.ts'
export { createCore } from './core.ts'
export type { Grants, NameRules, Policy } from './policy.ts'
export type { RateLimitOptions } from './rate-limit.ts'
export type { ListKind, SubscriptionLimits } from './subscriptions.ts'
export type { HintPlan, HintedResult } from './hints.ts'

// tools
export type {
  StructuredToolDefinition,
  StructuredToolReturn,
  Tool,
  ToolAnnotations,
  ToolArguments,
  ToolBase,
  ToolDefinition,
  ToolResult,
  ToolReturn,
} from './tool.ts'
export { defineTool } from './tool.ts'
export { ToolError } from './tool-error.ts'

// prompts and completion
export type {
  Prompt,
  PromptArgument,
  PromptArguments,
  PromptDefinition,
  PromptMessage,
  PromptResult,
  PromptReturn,
  PromptValues,
} from './prompt.ts'
export { definePrompt } from './prompt.ts'
export type {
  Completer,
  CompletionRequest,
  CompletionReturn,
  CompletionTarget,
  FallbackCompleter,
} from './completion.ts'

// resources
export type {
  ContentsEntry,
  ReadResult,
  ReadReturn,
  Resource,
  ResourceDefinition,
  ResourceTemplate,
  ResourceTemplateDefinition,
  VariablesOf,
} from './resource.ts'
export { defineResource, defineResourceTemplate } from './resource.ts'
export { resourceNotFound } from './resources.ts'
export type { TemplateVariables, UriTemplate } from './uri-template.ts'
export { parseUriTemplate } from './uri-template.ts'

// what handlers get and give
export type {
  ContentAnnotations,
  ContentBlock,
  EmbeddedResource,
  Icon,
  MediaContent,
  ResourceContents,
  ResourceLink,
  TextContent,
} from './content.ts'
export type { HandlerContext } from './handler-context.ts'
export type { Session } from './session.ts'
export type { AnySchema, JsonSchema, SchemaInput, SchemaOutput } from './schema/schema-types.ts'
export { jsonSchema } from './schema/schema-types.ts'
export { DefinitionError } from './definition-error.ts'

// asking for input
export type {
  AskOptions,
  AskReturn,
  ElicitFormOptions,
  ElicitUrlOptions,
  FormAnswer,
  Input,
  InputRequest,
  LinkAnswer,
  Root,
  SampledMessage,
} from './input.ts'
export { ask, createMessage, elicitForm, elicitUrl, listRoots, optional } from './input.ts'

// state that outlives a call
export { createMemoryStore } from './workflows/memory.ts'
export type { WorkflowChange, WorkflowKey, WorkflowRecord, WorkflowStore } from './workflows/store.ts'
export type {
  CreateWorkflowsOptions,
  OwnedWorkflows,
  SeenWorkflow,
  Workflow,
  WorkflowOptions,
  Workflows,
} from './workflows/workflows.ts'
export {
  WorkflowConflictError,
  WorkflowLimitError,
  WorkflowNotFoundError,
  createWorkflows,
} from './workflows/workflows.ts'
