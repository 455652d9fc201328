import type { CacheHints, JsonObject } from '@atenea/mcpcompat'
import type { Completer } from './completion.ts'
import type { ContentAnnotations, Icon } from './content.ts'
import type { HandlerContext } from './handler-context.ts'
import type { AskReturn } from './input.ts'

interface ResourceBase {
  /** For programs; need not be unique. */
  readonly name: string
  /** For people. */
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** Also of contents that say nothing else. */
  readonly mimeType?: string | undefined
  readonly annotations?: ContentAnnotations | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly _meta?: JsonObject | undefined
  /** How long what was read stays good, and for whom. Default: the core's hints for reading. */
  readonly hints?: CacheHints | undefined
  /** Milliseconds after which its signal aborts and the request fails. */
  readonly timeoutMs?: number | undefined
}

/** One content. Its `uri` and `mimeType` are those of the resource when it says nothing else (MC-RES-06). */
export type ContentsEntry = {
  readonly uri?: string | undefined
  readonly mimeType?: string | undefined
  readonly _meta?: JsonObject | undefined
} & ({ readonly text: string } | { readonly blob: Uint8Array | string })

export interface ReadResult {
  readonly contents: readonly ContentsEntry[]
  readonly hints?: CacheHints | undefined
  readonly _meta?: JsonObject | undefined
}

/**
 * What reading may give: text, bytes, one content, several, or a whole result; `undefined` when there is no such resource. No
 * contents at all is an answer like any other and never means that (MC-RES-04). Instead it may `ask`.
 */
export type ReadReturn =
  | string
  | Uint8Array
  | ContentsEntry
  | readonly ContentsEntry[]
  | ReadResult
  | AskReturn
  | undefined

/** A resource as it is written: what clients see, and how it is read. */
export interface ResourceDefinition extends ResourceBase {
  /** Absolute. Compared character by character. */
  readonly uri: string
  /** In bytes, where it is known beforehand. */
  readonly size?: number | undefined
  /** What it throws becomes an internal error, save an `RpcError`, which goes to the client as it is. */
  read(request: { readonly uri: string }, context: HandlerContext): ReadReturn | Promise<ReadReturn>
}

/** Any resource. */
export type Resource = ResourceDefinition

type Trim<Expression extends string> = Expression extends `${'+' | '#' | '.' | '/' | '?' | '&'}${infer Rest}`
  ? Rest
  : Expression

type EntriesOf<List extends string, Optional extends boolean> = List extends `${infer First},${infer Rest}`
  ? EntryOf<First, Optional> & EntriesOf<Rest, Optional>
  : EntryOf<List, Optional>

type EntryOf<Name extends string, Optional extends boolean> = Name extends `${infer Bare}*`
  ? { readonly [K in Bare]: readonly string[] }
  : Optional extends true
    ? { readonly [K in Name]?: string }
    : { readonly [K in Name]: string }

/** The variables of a template as TypeScript reads them from its text; those of a query may be absent. */
export type VariablesOf<Template extends string> = string extends Template
  ? Readonly<Record<string, string | readonly string[] | undefined>>
  : Template extends `${string}{${infer Expression}}${infer Rest}`
    ? EntriesOf<Trim<Expression>, Expression extends `${'?' | '&'}${string}` ? true : false> & VariablesOf<Rest>
    : unknown

type VariableName<Template extends string> = keyof VariablesOf<Template> & string

/** Many resources of one form. */
export interface ResourceTemplateDefinition<Template extends string> extends ResourceBase {
  /** RFC 6570; see `parseUriTemplate` for what can be read backwards. */
  readonly uriTemplate: Template
  /** Suggestions for the values of variables. */
  readonly complete?: { readonly [K in VariableName<Template>]?: Completer } | undefined
  /**
   * Gets the variables percent-decoded. A path never has a segment `..` here, nor a control character. What it throws becomes an
   * internal error, save an `RpcError`.
   */
  read(
    request: { readonly uri: string; readonly variables: VariablesOf<Template> },
    context: HandlerContext,
  ): ReadReturn | Promise<ReadReturn>
}

/** Any resource template, whatever its variables. */
export interface ResourceTemplate extends Omit<ResourceTemplateDefinition<string>, 'read' | 'complete'> {
  readonly complete?: Readonly<Record<string, Completer | undefined>> | undefined
  read(request: { readonly uri: string; readonly variables: unknown }, context: HandlerContext): unknown
}

/** Types a resource. The definition itself comes back. */
export function defineResource(definition: ResourceDefinition): ResourceDefinition {
  return definition
}

/** Types a resource template by the variables in its text. The definition itself comes back. */
export function defineResourceTemplate<const Template extends string>(
  definition: ResourceTemplateDefinition<Template>,
): ResourceTemplateDefinition<Template> {
  return definition
}
