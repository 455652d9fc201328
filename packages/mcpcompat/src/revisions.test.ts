import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createRevisionPolicy,
  legacyRevision,
  modernRevision,
  parseLegacyRevisions,
  parseRevision,
  RevisionError,
  revisionsOf,
} from './revisions.ts'

describe('MC-VER-06, A-56: a version identifier', () => {
  test.each([
    ['2026-07-28', true, 'modern', 'the modern revision'],
    ['2025-11-25', true, 'legacy', 'released'],
    ['2025-06-18', true, 'legacy', 'released'],
    ['2025-03-26', true, 'legacy', 'released'],
    ['2024-11-05', true, 'legacy', 'released'],
    ['2024-11-06', false, 'legacy', 'a date that is no revision'],
    ['2026-07-27', false, 'legacy', 'the day before the first modern one'],
    ['2026-07-29', false, 'modern', 'the day after'],
    ['2027-01-01', false, 'modern', 'a later date'],
    ['0001-01-01', false, 'legacy', 'a real date'],
    ['9999-12-31', false, 'modern', 'a real date'],
    ['2024-02-29', false, 'legacy', 'leap day'],
    ['2000-02-29', false, 'legacy', 'leap day of a century divisible by 400'],
    ['2028-02-29', false, 'modern', 'leap day'],
    ['2024-02-30', false, 'unknown', 'no day of any February'],
    ['2026-01-32', false, 'unknown', 'no day of any month'],
    ['2026-01-31', false, 'legacy', 'the last day of a long month'],
    ['2027-02-29', false, 'unknown', 'no leap year'],
    ['2100-02-29', false, 'unknown', 'no leap year'],
    ['2026-04-31', false, 'unknown', 'no such day'],
    ['2026-00-10', false, 'unknown', 'no such month'],
    ['2026-13-10', false, 'unknown', 'no such month'],
    ['2026-01-00', false, 'unknown', 'no such day'],
    ['2026-7-28', false, 'unknown', 'not padded'],
    ['26-07-28', false, 'unknown', 'two digits'],
    ['12026-07-28', false, 'unknown', 'five digits'],
    [' 2026-07-28', false, 'unknown', 'leading blank'],
    ['2026-07-28\n', false, 'unknown', 'trailing line end'],
    ['2026-07-28T00:00:00Z', false, 'unknown', 'a time'],
    ['２０２６-07-28', false, 'unknown', 'digits of another script'],
    ['DRAFT-2026-v1', false, 'unknown', 'a word'],
    ['v999.0.0', false, 'unknown', 'not a date'],
    ['', false, 'unknown', 'empty'],
    ['__proto__', false, 'unknown', 'a name that every object has'],
    ['constructor', false, 'unknown', 'a name that every object has'],
  ])('%j: known %s, era %s (%s)', (revision, known, era) => {
    expect(parseRevision(revision)).toEqual({ revision, known, era })
  })

  test.each([[20260728], [null], [undefined], [true], [{}], [['2026-07-28']]])('%j is malformed', (value) => {
    expect(parseRevision(value)).toBeUndefined()
  })

  test('any string has an answer', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parseRevision(text)?.revision).toBe(text)
      }),
    )
  })
})

describe('the policy', () => {
  test('by default serves one revision of each era, modern ones listed first (A-25)', () => {
    const policy = createRevisionPolicy()
    expect(policy.modern).toEqual([modernRevision])
    expect(policy.legacy).toEqual([legacyRevision])
    expect(policy.supported).toEqual(['2026-07-28', '2025-06-18'])
  })

  test('other legacy revisions are switched on, newest first whatever the order given', () => {
    const policy = createRevisionPolicy({ legacy: ['2024-11-05', '2025-11-25', '2025-06-18', '2025-11-25'] })
    expect(policy.legacy).toEqual(['2025-11-25', '2025-06-18', '2024-11-05'])
    expect(policy.supported).toEqual(['2026-07-28', '2025-11-25', '2025-06-18', '2024-11-05'])
  })

  test.each([
    ['2026-07-28', 'modern'],
    ['2025-06-18', 'legacy'],
    ['2025-11-25', undefined],
    ['2027-01-01', undefined],
    ['', undefined],
  ])('MC-VER-01: %s is accepted as %s', (revision, era) => {
    expect(createRevisionPolicy().accepts(revision)).toBe(era)
  })

  test.each<[string[], string, string | undefined, string]>([
    [['2025-06-18'], '2025-06-18', '2025-06-18', 'the same'],
    [['2025-06-18'], '2025-11-25', '2025-06-18', 'known but not served'],
    [['2025-06-18'], '2026-07-28', '2025-06-18', 'never a modern one'],
    [['2025-06-18'], 'junk', '2025-06-18', 'unknown'],
    [['2025-11-25', '2024-11-05'], '2024-11-05', '2024-11-05', 'an older one that is served'],
    [['2025-11-25', '2024-11-05'], '2025-06-18', '2025-11-25', 'the newest that is served'],
    [[], '2025-06-18', undefined, 'modern only'],
  ])('LG-LIFE-07: serving %j, asked for %s, answers %s (%s)', (legacy, requested, answer) => {
    expect(createRevisionPolicy({ legacy }).negotiateLegacy(requested)).toBe(answer)
  })

  test('one era alone', () => {
    expect(createRevisionPolicy({ legacy: [] }).supported).toEqual(['2026-07-28'])
    expect(createRevisionPolicy({ modern: [] }).supported).toEqual(['2025-06-18'])
  })

  test.each([
    [{ modern: ['2025-06-18'] }, /"2025-06-18" is a legacy revision, not a modern one\. Modern revisions: 2026-07-28/],
    [{ legacy: ['2026-07-28'] }, /"2026-07-28" is a modern revision, not a legacy one\. Legacy revisions: 2025-11-25/],
    [{ modern: ['2027-01-01'] }, /"2027-01-01" is not a revision that this library knows/],
    [{ modern: [], legacy: [] }, /at least one revision/],
  ])('%j is refused', (options, message) => {
    expect(() => createRevisionPolicy(options)).toThrow(RevisionError)
    expect(() => createRevisionPolicy(options)).toThrow(message)
  })

  test('all that can be spoken', () => {
    expect(revisionsOf('modern')).toEqual(['2026-07-28'])
    expect(revisionsOf('legacy')).toEqual(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])
  })
})

describe('a list of legacy revisions', () => {
  test.each([
    ['2025-06-18', ['2025-06-18']],
    [' 2025-03-26 , 2025-11-25 ', ['2025-11-25', '2025-03-26']],
    ['2025-06-18,2025-06-18', ['2025-06-18']],
  ])('%j', (text, revisions) => {
    expect(parseLegacyRevisions(text)).toEqual(revisions)
  })

  test.each([
    ['', /empty\. Legacy revisions: 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05\./],
    [' , ', /empty/],
    ['2025-06-18,', /empty entry: "2025-06-18,"/],
    ['2025-06-19', /"2025-06-19" is not a revision/],
    ['2026-07-28', /"2026-07-28" is a modern revision/],
    ['all', /"all" is not a revision/],
  ])('%j is refused with advice', (text, message) => {
    expect(() => parseLegacyRevisions(text)).toThrow(message)
    expect(() => parseLegacyRevisions(text)).toThrow(RevisionError)
  })
})
