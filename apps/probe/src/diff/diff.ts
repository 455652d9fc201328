import { type Era, isJsonObject, type JsonObject, type JsonValue } from '@atenea/mcpcompat'
import type { EraReport, EraVerdict, Finding, ListName, Report, ReportTarget } from '../report.ts'
import { type Change, changesOf, isSame } from './changes.ts'

/** Grows as that of the report does. */
export const diffVersion = 1

/**
 * `lost`: A has it and B has not. `changed`: both have it, unlike. `added`: only B has it. `worse` and `better`: a verdict, or a
 * finding that came or went. What B adds or does better takes nothing from anybody.
 */
export type DifferenceKind = 'lost' | 'changed' | 'worse' | 'added' | 'better'

export type DifferenceArea =
  | 'outcome'
  | 'verdict'
  | 'revision'
  | 'identity'
  | 'instructions'
  | 'capabilities'
  | ListName
  | 'finding'

/** One way in which B differs from A. */
export interface Difference {
  readonly kind: DifferenceKind
  readonly area: DifferenceArea
  /** The era in which it shows; both where it shows in both alike. */
  readonly era?: Era | 'both' | undefined
  /** The name of a tool or prompt, the URI of a resource, the id of a finding. */
  readonly subject?: string | undefined
  /** Where in it, as a JSON pointer. */
  readonly pointer?: string | undefined
  readonly a?: JsonValue | undefined
  readonly b?: JsonValue | undefined
}

export interface Timing {
  readonly step: string
  readonly aMs: number
  readonly bMs: number
}

export interface Diff {
  readonly format: 'atenea-probe-diff'
  readonly version: typeof diffVersion
  readonly a: ReportTarget
  readonly b: ReportTarget
  /** Whether B loses and changes nothing and does nothing worse. */
  readonly same: boolean
  readonly differences: readonly Difference[]
  /** What could not be compared, in words. */
  readonly notCompared: readonly string[]
  /** For information: no duration makes a difference. */
  readonly timings: readonly Timing[]
}

/** What B loses, changes and adds against A, member by member. */
export function diffReports(a: Report, b: Report): Diff {
  const notCompared: string[] = []
  const differences = [
    ...outcomes(a, b),
    ...merged(eraDifferences('legacy', a, b, notCompared), eraDifferences('modern', a, b, notCompared)),
    ...findingDifferences(a, b, notCompared),
  ]
  return {
    format: 'atenea-probe-diff',
    version: diffVersion,
    a: a.target,
    b: b.target,
    same: differences.every(({ kind }) => kind === 'added' || kind === 'better'),
    differences,
    notCompared,
    timings: timings(a, b),
  }
}

function outcomes(a: Report, b: Report): Difference[] {
  if (a.outcome === b.outcome) return []
  // A tool was called in one of them only.
  if (a.outcome === 'tool-failed' || b.outcome === 'tool-failed') return []
  return [
    {
      kind: a.outcome === 'fine' ? 'worse' : b.outcome === 'fine' ? 'better' : 'changed',
      area: 'outcome',
      a: a.outcome,
      b: b.outcome,
    },
  ]
}

/** From bad to good. A step up is something added, a step down something lost. */
const ranks: Readonly<Record<EraVerdict, number>> = {
  'not-tried': 0,
  'not-spoken': 0,
  refuses: 0,
  'silent-downgrade': 0,
  'works-with-defects': 1,
  works: 2,
}

/** A legacy client whose revision is not served is served another one; a modern client that is downgraded is served none. */
function rankOf(era: Era, verdict: EraVerdict): number {
  return era === 'legacy' && verdict === 'silent-downgrade' ? 1 : ranks[verdict]
}

function eraDifferences(era: Era, reportA: Report, reportB: Report, notCompared: string[]): Difference[] {
  const a = reportA[era]
  const b = reportB[era]
  if (a.verdict === 'not-tried' || b.verdict === 'not-tried') {
    if (a.verdict !== b.verdict) notCompared.push(`${era}: it was tried on one side only`)
    return []
  }
  const found: Difference[] = []
  if (a.verdict !== b.verdict) {
    const step = rankOf(era, b.verdict) - rankOf(era, a.verdict)
    const kind = step < 0 ? 'worse' : step > 0 ? 'better' : 'changed'
    found.push({ kind, area: 'verdict', era, a: a.verdict, b: b.verdict })
  }
  // With nothing to talk to on one side the verdict says it all; each tool would only repeat it.
  if (rankOf(era, a.verdict) === 0 || rankOf(era, b.verdict) === 0) return found
  found.push(
    ...single('revision', '/observed', a.observed, b.observed),
    ...supportedVersions(a, b),
    ...members('identity', a.server, b.server),
    ...single('instructions', undefined, a.instructions, b.instructions),
    ...members('capabilities', a.capabilities, b.capabilities),
    ...lists(a, b),
  )
  return found.map((difference) => ({ ...difference, era }))
}

function single(
  area: DifferenceArea,
  pointer: string | undefined,
  a: JsonValue | undefined,
  b: JsonValue | undefined,
): Difference[] {
  if (a === undefined ? b === undefined : b !== undefined && isSame(a, b)) return []
  return [{ kind: kindOf(a, b), area, pointer, a, b }]
}

function kindOf(a: JsonValue | undefined, b: JsonValue | undefined): DifferenceKind {
  return b === undefined ? 'lost' : a === undefined ? 'added' : 'changed'
}

/** Their order says nothing. */
function supportedVersions(a: EraReport, b: EraReport): Difference[] {
  const before = a.supportedVersions ?? []
  const after = b.supportedVersions ?? []
  const pointer = '/supportedVersions'
  return [
    ...before
      .filter((one) => !after.includes(one))
      .map((one) => ({ kind: 'lost', area: 'revision', pointer, a: one }) as const),
    ...after
      .filter((one) => !before.includes(one))
      .map((one) => ({ kind: 'added', area: 'revision', pointer, b: one }) as const),
  ]
}

/** Whole members may come and go; what differs inside of them is a change of kinds of its own. */
function members(area: DifferenceArea, a: JsonObject | undefined, b: JsonObject | undefined): Difference[] {
  return changesOf(a ?? {}, b ?? {}).map(({ pointer, a: before, b: after }) => ({
    kind: kindOf(before, after),
    area,
    pointer,
    a: before,
    b: after,
  }))
}

const keys: Readonly<Record<ListName, string>> = {
  tools: 'name',
  prompts: 'name',
  resources: 'uri',
  templates: 'uriTemplate',
}

function lists(a: EraReport, b: EraReport): Difference[] {
  return (['tools', 'prompts', 'resources', 'templates'] as const).flatMap((list) => {
    const before = byKey(a.lists[list] ?? [], keys[list])
    const after = byKey(b.lists[list] ?? [], keys[list])
    const lost = [...before]
      .filter(([subject]) => !after.has(subject))
      .map(([subject]) => ({ kind: 'lost', area: list, subject }) as const)
    const added = [...after]
      .filter(([subject]) => !before.has(subject))
      .map(([subject]) => ({ kind: 'added', area: list, subject }) as const)
    const changed = [...before].flatMap(([subject, entry]) => {
      const other = after.get(subject)
      return other === undefined
        ? []
        : entryChanges(entry, other).map((change): Difference => ({ kind: 'changed', area: list, subject, ...change }))
    })
    return [...lost, ...changed, ...added]
  })
}

function entryChanges(a: JsonValue, b: JsonValue): readonly Change[] {
  return isJsonObject(a) && isJsonObject(b) ? changesOf(a, b) : isSame(a, b) ? [] : [{ pointer: '', a, b }]
}

/** Entries by what names them. Of several with one name each has its number, so that none is lost on the way. */
function byKey(entries: readonly JsonValue[], key: string): ReadonlyMap<string, JsonValue> {
  const found = new Map<string, JsonValue>()
  for (const entry of entries) {
    const named = isJsonObject(entry) ? entry[key] : undefined
    const base = typeof named === 'string' ? named : JSON.stringify(entry)
    let name = base
    for (let number = 2; found.has(name); number += 1) name = `${base} (${number})`
    found.set(name, entry)
  }
  return found
}

/** What shows in both eras alike is told once. */
function merged(legacy: readonly Difference[], modern: readonly Difference[]): Difference[] {
  const textOf = ({ era: _, ...rest }: Difference): string => JSON.stringify(rest)
  const inModern = new Set(modern.map(textOf))
  const shared = new Set(legacy.map(textOf).filter((text) => inModern.has(text)))
  return [
    ...legacy.filter((difference) => !shared.has(textOf(difference))),
    ...modern.map((difference) =>
      shared.has(textOf(difference)) ? { ...difference, era: 'both' as const } : difference,
    ),
  ]
}

/** Notes say nothing about good and bad. */
function findingDifferences(a: Report, b: Report, notCompared: string[]): Difference[] {
  const wasReached = ({ outcome }: Report): boolean => outcome === 'fine' || outcome === 'tool-failed'
  if (!wasReached(a) || !wasReached(b)) {
    notCompared.push('findings: one side was not reached')
    return []
  }
  const came = b.findings.filter((finding) => finding.level !== 'note' && !isIn(a, finding))
  const went = a.findings.filter((finding) => finding.level !== 'note' && !isIn(b, finding))
  return [
    ...came.map((finding): Difference => ({ kind: 'worse', ...aboutFinding(finding), b: finding.title })),
    ...went.map((finding): Difference => ({ kind: 'better', ...aboutFinding(finding), a: finding.title })),
  ]
}

/** One that names no era was seen in every era that is spoken, which may be one era only on the other side. */
function isIn({ findings }: Report, { id, era, subject }: Finding): boolean {
  return findings.some(
    (other) =>
      other.id === id &&
      other.subject === subject &&
      (other.era === era || other.era === undefined || era === undefined),
  )
}

function aboutFinding({ id, era, subject }: Finding): Pick<Difference, 'area' | 'era' | 'subject'> {
  return { area: 'finding', era, subject: subject === undefined ? id : `${id} (${subject})` }
}

function timings(a: Report, b: Report): Timing[] {
  const nameOf = ({ name, era }: Report['steps'][number]): string => (era === undefined ? name : `${name} (${era})`)
  const after = new Map(b.steps.map((step) => [nameOf(step), step.durationMs]))
  const steps = a.steps.flatMap((step): Timing[] => {
    const bMs = after.get(nameOf(step))
    return bMs === undefined ? [] : [{ step: nameOf(step), aMs: step.durationMs, bMs }]
  })
  return [...steps, { step: 'all', aMs: a.durationMs, bMs: b.durationMs }]
}
