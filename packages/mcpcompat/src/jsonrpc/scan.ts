/** Where the value of a member stands in its source text: `start` is its first character, `end` is after its last. */
export interface MemberSpan {
  readonly start: number
  readonly end: number
}

/** Finds the top-level members of a JSON object in source text without parsing their values. */
export function scanMembers(_text: string): ReadonlyMap<string, MemberSpan> {
  throw new Error('not written yet')
}
