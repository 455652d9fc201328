/** Why nobody gets in, and what to do about it. */
export interface Trouble {
  readonly cause: string
  readonly repair: string
}
