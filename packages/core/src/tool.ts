import type { JsonObject, JsonValue } from '@atenea/mcpcompat'
import type { ContentBlock, Icon } from './content.ts'
import type { HandlerContext } from './handler-context.ts'
import type { AskReturn } from './input.ts'
import type { AnySchema, SchemaInput, SchemaOutput } from './schema/schema-types.ts'

/** What a tool does to the world, for clients that ask people before they call it. Hints, no promises. */
export interface ToolAnnotations {
  readonly title?: string | undefined
  /** Changes nothing. */
  readonly readOnlyHint?: boolean | undefined
  /** May destroy or overwrite; only where it is not read-only. */
  readonly destructiveHint?: boolean | undefined
  /** The same call again changes nothing more. */
  readonly idempotentHint?: boolean | undefined
  /** Deals with things outside of the server's own. */
  readonly openWorldHint?: boolean | undefined
}

/** A whole result. A text copy of `structuredContent` is added when there is no content (MC-TOOL-08). */
export interface ToolResult<Structured = unknown> {
  readonly content?: readonly ContentBlock[] | undefined
  readonly structuredContent?: Structured | undefined
  /** The tool itself failed; the content says how, for the model. */
  readonly isError?: boolean | undefined
  readonly _meta?: JsonObject | undefined
}

/** What a tool without an `outputSchema` may return: text, content, or a whole result. Instead it may `ask`. */
export type ToolReturn = string | readonly ContentBlock[] | ToolResult<JsonValue> | AskReturn | undefined | void

/**
 * What a tool with an `outputSchema` may return: the structured value itself, or a whole result, which is an object with
 * `structuredContent` or with a true `isError`. Instead it may `ask`.
 */
export type StructuredToolReturn<Structured> =
  | Structured
  | (ToolResult<Structured> & { readonly structuredContent: Structured })
  | (ToolResult<Structured> & { readonly isError: true })
  | AskReturn

/** What clients see of any tool, and how it is run. */
export interface ToolBase {
  /** 1 to 128 characters of `A-Z a-z 0-9 _ - .` (MC-TOOL-09). */
  readonly name: string
  /** For people. */
  readonly title?: string | undefined
  /** For the model: what it does, when to use it, and what comes back. */
  readonly description?: string | undefined
  /** What clients see in place of `inputSchema`, for a schema library that cannot turn it into JSON Schema. */
  readonly inputJsonSchema?: JsonObject | undefined
  readonly outputJsonSchema?: JsonObject | undefined
  readonly annotations?: ToolAnnotations | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly _meta?: JsonObject | undefined
  /** Client capabilities without which the tool cannot work, such as `{ sampling: {} }`; checked before it runs. */
  readonly requires?: JsonObject | undefined
  /** Milliseconds after which its signal aborts and the call fails, whether it listens or not. */
  readonly timeoutMs?: number | undefined
}

/** The type of a tool's arguments: what the schema makes of them, any object without one. */
export type ToolArguments<I extends AnySchema | undefined> = I extends AnySchema ? SchemaOutput<I> : JsonObject

/** A tool as it is written: what clients see, and what it does. */
export interface ToolDefinition<I extends AnySchema | undefined> extends ToolBase {
  /** What the arguments are; any object when absent. Its root must be an object (MC-TOOL-04). */
  readonly inputSchema?: I | undefined
  readonly outputSchema?: undefined
  /**
   * Gets checked arguments. It may answer at once, which costs no promise, or later. A thrown `ToolError` becomes a result that
   * the model can read, an `RpcError` goes to the client as it is, anything else is reported and becomes a general failure.
   */
  handler(args: ToolArguments<I>, context: HandlerContext): ToolReturn | Promise<ToolReturn>
}

/** A tool whose results have a structure of their own beside the text. */
export interface StructuredToolDefinition<I extends AnySchema | undefined, O extends AnySchema> extends ToolBase {
  readonly inputSchema?: I | undefined
  /** What the structured value is; each result is checked against it (MC-TOOL-06). */
  readonly outputSchema: O
  /** See `ToolDefinition`. A text copy of the value is added (MC-TOOL-08). */
  handler(
    args: ToolArguments<I>,
    context: HandlerContext,
  ): StructuredToolReturn<SchemaInput<O>> | Promise<StructuredToolReturn<SchemaInput<O>>>
}

/** Any tool, whatever its schemas. */
export interface Tool extends ToolBase {
  readonly inputSchema?: AnySchema | undefined
  readonly outputSchema?: AnySchema | undefined
  handler(args: unknown, context: HandlerContext): unknown
}

/** Types a tool by its schemas. The definition itself comes back. */
export function defineTool<I extends AnySchema | undefined = undefined>(
  definition: ToolDefinition<I>,
): ToolDefinition<I>
export function defineTool<O extends AnySchema, I extends AnySchema | undefined = undefined>(
  definition: StructuredToolDefinition<I, O>,
): StructuredToolDefinition<I, O>
export function defineTool(definition: Tool): Tool {
  return definition
}
