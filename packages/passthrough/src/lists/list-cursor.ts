/** Where a page of a merged list starts, and of which state of the list it is one. */
export interface ListPosition {
  /** Index of its first item. */
  readonly start: number
  /** Names the state of the list: 16 hexadecimal digits. */
  readonly state: string
}

const form = /^m1\.([0-9a-z]{1,6})\.([0-9a-f]{16})$/

/** A cursor of a list that was put together here. It says everything itself, so that nothing is kept for it. */
export function encodeCursor({ start, state }: ListPosition): string {
  return `m1.${start.toString(36)}.${state}`
}

/** The position that a cursor of ours names, or `undefined`. */
export function decodeCursor(cursor: string): ListPosition | undefined {
  const [, start, state] = form.exec(cursor) ?? []
  return start === undefined || state === undefined ? undefined : { start: Number.parseInt(start, 36), state }
}
