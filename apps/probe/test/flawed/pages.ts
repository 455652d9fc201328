/** How the fixture server gives its tools in pages, and what a flaw does to that. */

type Page = Readonly<Record<string, unknown>>

/** One page of tools; undefined for a cursor that was never given. `reading` counts the readings of the list. */
export function toolPage(
  flaw: string,
  entries: readonly unknown[],
  cursor: unknown,
  reading: number,
): Page | undefined {
  const first: Page = { tools: entries.slice(0, 2), nextCursor: 'two' }
  const second: Page = { tools: entries.slice(2) }
  const either = (one: Page, other: Page): Page | undefined =>
    cursor === undefined ? one : cursor === 'two' ? other : undefined
  switch (flaw) {
    case 'list-unstable':
      return cursor === undefined ? { tools: reading % 2 === 0 ? entries.toReversed() : entries } : second
    case 'page-cursor-repeated':
      return either(first, { ...second, nextCursor: 'two' })
    case 'page-cursor-type':
      return { tools: entries, nextCursor: 2 }
    case 'page-endless':
      return endlessPage(cursor)
    case 'page-empty':
      return either({ tools: [], nextCursor: 'two' }, { tools: entries })
    case 'page-repeats-items':
      return either(first, { tools: entries.slice(0, 2) })
    case 'page-cursor-unrefused':
      return cursor === 'two' ? second : first
    default:
      return either(first, second)
  }
}

function endlessPage(cursor: unknown): Page | undefined {
  const number = cursor === undefined ? '0' : /^c(\d+)$/.exec(typeof cursor === 'string' ? cursor : '')?.[1]
  if (number === undefined) return undefined
  const tool = { name: `t${number}`, description: 'One of many.', inputSchema: { type: 'object' } }
  return { tools: [tool], nextCursor: `c${Number(number) + 1}` }
}
