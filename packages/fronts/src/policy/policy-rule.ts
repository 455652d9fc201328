/** What some principals may use, in a configuration. */
export interface PolicyRule {
  /** The principals that it is for, where `*` stands for any characters and everything else for itself; everybody when absent. */
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
