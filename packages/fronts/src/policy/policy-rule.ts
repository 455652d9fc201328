/** What some principals may use, in a configuration. */
export interface PolicyRule {
  /** Globs of the principals that it is for; everybody when absent. */
  readonly principals?: readonly string[] | undefined
  /** Scopes that their token has to have, all of them. */
  readonly scopes?: readonly string[] | undefined
  /** Globs of names; absent means all. */
  readonly enabledTools?: readonly string[] | undefined
  readonly disabledTools?: readonly string[] | undefined
  readonly enabledPrompts?: readonly string[] | undefined
  readonly disabledPrompts?: readonly string[] | undefined
  /** Globs of URIs. */
  readonly enabledResources?: readonly string[] | undefined
  readonly disabledResources?: readonly string[] | undefined
}
