import { expect, test } from 'vitest'
import { EventLog, eventId, readEventId } from './event-log.ts'

const numbers = (events: readonly { readonly number: number }[]): number[] => events.map(({ number }) => number)

test('LG-RESUME-02: gives the events of one stream after a number, and no others', () => {
  const log = new EventLog({ maxEvents: 10, maxLength: 100 })
  for (const stream of [0, 1, 0, 2, 0]) log.append(stream, 'x')
  expect(numbers(log.after(0, 0))).toEqual([1, 3, 5])
  expect(numbers(log.after(0, 3))).toEqual([5])
  expect(numbers(log.after(2, 0))).toEqual([4])
  expect(log.after(3, 0)).toEqual([])
  expect(log.last).toBe(5)
})

test('keeps no more events than it may', () => {
  const log = new EventLog({ maxEvents: 3, maxLength: 1_000 })
  for (let count = 0; count < 10; count++) log.append(0, 'x')
  expect(numbers(log.after(0, 0))).toEqual([8, 9, 10])
})

test('keeps no more text than it may, but always the newest event', () => {
  const log = new EventLog({ maxEvents: 100, maxLength: 10 })
  for (const length of [4, 4, 4, 50]) log.append(0, 'x'.repeat(length))
  expect(numbers(log.after(0, 0))).toEqual([4])
  log.append(0, 'xx')
  log.append(0, 'xx')
  expect(numbers(log.after(0, 0))).toEqual([5, 6])
})

test.each(['', '1', '1-', '-1', '1-2-3', '01x-2', '1-2 ', '９-1', '1'.repeat(16) + '-1'])(
  '%j is no id of an event',
  (id) => {
    expect(readEventId(id)).toBeUndefined()
  },
)

test('LG-RESUME-01: an id is read as it was written', () => {
  expect(readEventId(eventId({ stream: 7, number: 42 }))).toEqual({ stream: 7, number: 42 })
})
