import type { JsonObject } from '@atenea/mcpcompat'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Completer } from './completion.ts'
import type { ContentBlock, Icon } from './content.ts'
import type { HandlerContext } from './handler-context.ts'
import type { AskReturn } from './input.ts'
import type { SchemaOutput } from './schema/schema-types.ts'

/** An argument of a prompt. Values are strings. */
export interface PromptArgument {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly required?: boolean | undefined
}

/** Arguments one by one, or as a schema of a library whose input is an object of strings. */
export type PromptArguments = Readonly<Record<string, PromptArgument>> | StandardSchemaV1

/** What the handler gets for its arguments. */
export type PromptValues<A extends PromptArguments | undefined> = A extends StandardSchemaV1
  ? SchemaOutput<A>
  : A extends Readonly<Record<string, PromptArgument>>
    ? { readonly [K in keyof A as A[K] extends { readonly required: true } ? K : never]: string } & {
        readonly [K in keyof A as A[K] extends { readonly required: true } ? never : K]?: string
      }
    : Readonly<Record<never, never>>

type ArgumentName<A extends PromptArguments | undefined> = A extends StandardSchemaV1
  ? keyof StandardSchemaV1.InferInput<A>
  : keyof A

/** One message of a prompt; text may stand for a text block (MC-PRM-08). */
export interface PromptMessage {
  readonly role: 'user' | 'assistant'
  readonly content: ContentBlock | string
}

export interface PromptResult {
  readonly description?: string | undefined
  readonly messages: readonly PromptMessage[]
  readonly _meta?: JsonObject | undefined
}

/** What a prompt's handler may return: the text of one user message, messages, or a whole result. Instead it may `ask`. */
export type PromptReturn = string | readonly PromptMessage[] | PromptResult | AskReturn

/** A prompt as it is written: what clients see, and what it says. */
export interface PromptDefinition<A extends PromptArguments | undefined> {
  readonly name: string
  /** For people. */
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly arguments?: A | undefined
  /** Suggestions for the values of arguments. */
  readonly complete?: { readonly [K in ArgumentName<A>]?: Completer } | undefined
  readonly icons?: readonly Icon[] | undefined
  readonly _meta?: JsonObject | undefined
  /** Milliseconds after which its signal aborts and the request fails. */
  readonly timeoutMs?: number | undefined
  /** Gets checked arguments. What it throws becomes an internal error, save an `RpcError`, which goes to the client as it is. */
  handler(args: PromptValues<A>, context: HandlerContext): PromptReturn | Promise<PromptReturn>
}

/** Any prompt, whatever its arguments. */
export interface Prompt extends Omit<PromptDefinition<PromptArguments>, 'handler' | 'complete'> {
  readonly complete?: Readonly<Record<string, Completer | undefined>> | undefined
  handler(args: unknown, context: HandlerContext): unknown
}

/** Types a prompt by its arguments. The definition itself comes back. */
export function definePrompt<const A extends PromptArguments | undefined = undefined>(
  definition: PromptDefinition<A>,
): PromptDefinition<A> {
  return definition
}
