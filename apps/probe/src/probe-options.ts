import type { RevisionPolicy } from '@atenea/mcpcompat'
import type { SignInRequest } from './auth/sign-in.ts'
import type { ToolCall } from './call-tool.ts'
import type { Finding, Step } from './report.ts'

export interface ProbeOptions {
  /** Eras to try. */
  readonly protocol: 'both' | 'modern' | 'legacy'
  /** Revisions to ask for and to accept. */
  readonly policy: RevisionPolicy
  /** How long one answer may take, in milliseconds. */
  readonly timeoutMs: number
  /** How long the checks of one era may take together, in milliseconds. Six times `timeoutMs` and at least 15 s if left out. */
  readonly budgetMs?: number | undefined
  /** Ends the probe; its reason is thrown once everything that was opened is closed. */
  readonly signal: AbortSignal
  /** Takes secrets out of whatever goes into the report. */
  readonly redact: (text: string) => string
  /** The one tool to call, if any. */
  readonly call?: ToolCall | undefined
  /** Gets the value of `Authorization` where the server wants one; rejects with an `OAuthError`. */
  readonly signIn?: ((request: SignInRequest) => Promise<string>) | undefined
}

/** Told while the probe runs, for a display. */
export type ProgressEvent =
  | { readonly kind: 'doing'; readonly text: string }
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'finding'; readonly finding: Finding }
