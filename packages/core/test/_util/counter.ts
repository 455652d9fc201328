/** A state that shows whether it was torn: its second half can be told from its first. */
export interface Counter {
  readonly [member: string]: number | string
  readonly count: number
  readonly padding: string
}

export const zero: Counter = counterOf(0)

export function nextCounter({ count }: Counter): Counter {
  return counterOf(count + 1)
}

/** Some states fill one page of a database, some several. */
export function counterOf(count: number): Counter {
  return { count, padding: `${count},`.repeat(1 + ((count * 7919) % 4_000)) }
}
