import { describe, expect, test } from 'vitest'
import { JsonText } from './jsonrpc/json-text.ts'
import type { JsonObject } from './jsonrpc/json.ts'
import { createPageWalk, nextPage } from './pagination.ts'

describe('MC-PAGE-02 to MC-PAGE-04, LG-PAGE-01: whether a list goes on', () => {
  test.each<[JsonObject, object]>([
    [{ tools: [] }, { more: false }],
    [{ nextCursor: null }, { more: false }],
    [{ nextCursor: 'abc' }, { more: true, cursor: 'abc' }],
    [{ nextCursor: '' }, { more: true, cursor: '' }],
    [{ nextCursor: ' a=%20 ' }, { more: true, cursor: ' a=%20 ' }],
    [{ nextCursor: '0' }, { more: true, cursor: '0' }],
    [{ nextCursor: 0 }, { more: false, fault: 'nextCursor is not a string' }],
    [{ nextCursor: false }, { more: false, fault: 'nextCursor is not a string' }],
    [{ nextCursor: {} }, { more: false, fault: 'nextCursor is not a string' }],
  ])('%j: %j', (result, expected) => {
    expect(nextPage(result)).toEqual(expected)
    expect(nextPage(new JsonText(JSON.stringify(result)))).toEqual(expected)
  })
})

describe('F4: a walk over pages', () => {
  /** Walks as a client does; `serve` gives the next cursor of the page that was asked for with one. */
  function walk(
    serve: (cursor: string | undefined) => unknown,
    limits?: object,
  ): { asked: (string | undefined)[]; end: string } {
    const pages = createPageWalk(limits)
    const asked: (string | undefined)[] = []
    for (let cursor: string | undefined; ; ) {
      asked.push(cursor)
      const nextCursor = serve(cursor)
      const step = pages.after((nextCursor === undefined ? {} : { nextCursor }) as JsonObject, 1)
      if (step.kind === 'next') cursor = step.cursor
      else return { asked, end: step.kind === 'end' ? 'end' : step.reason }
    }
  }

  test('an empty cursor is one page more', () => {
    expect(walk((cursor) => (cursor === undefined ? '' : undefined))).toEqual({ asked: [undefined, ''], end: 'end' })
  })

  test('the same cursor for ever: its page is asked for once', () => {
    expect(walk(() => 'A')).toEqual({ asked: [undefined, 'A'], end: 'repeated-cursor' })
    expect(walk(() => '')).toEqual({ asked: [undefined, ''], end: 'repeated-cursor' })
  })

  test('A, B, A, B: no page is asked for twice', () => {
    expect(walk((cursor) => (cursor === 'A' ? 'B' : 'A'))).toEqual({
      asked: [undefined, 'A', 'B'],
      end: 'repeated-cursor',
    })
  })

  test.each([
    [null, 'end'],
    [0, 'bad-cursor'],
    [{}, 'bad-cursor'],
  ])('nextCursor %j: %s', (cursor, end) => {
    expect(walk(() => cursor)).toEqual({ asked: [undefined], end })
  })

  test('a million pages stop at the cap, which counts the first page', () => {
    let count = 0
    expect(walk(() => String(count++)).asked).toHaveLength(1000)
    expect(walk(() => String(count++), { maxPages: 1 })).toEqual({ asked: [undefined], end: 'too-many-pages' })
    expect(walk(() => String(count++), { maxPages: 3 }).asked).toHaveLength(3)
  })

  test('a list of exactly the cap is no fault', () => {
    let count = 0
    expect(walk(() => (++count < 3 ? String(count) : undefined), { maxPages: 3 }).end).toBe('end')
  })

  test('items are capped too', () => {
    const pages = createPageWalk({ maxItems: 10 })
    expect(pages.after({ nextCursor: 'a' }, 9)).toEqual({ kind: 'next', cursor: 'a' })
    expect(pages.after({ nextCursor: 'b' }, 1)).toEqual({ kind: 'stopped', reason: 'too-many-items' })
  })
})
