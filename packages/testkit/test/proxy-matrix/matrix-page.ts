import type { Cell } from './cells.ts'
import { checks } from './checks.ts'
import type { Outcomes } from './run-cell.ts'

const works = '✓'
const notApplicable = '–'
const fails = '✗'

/** One line of the table. */
export function rowOf({ client, front, back, server }: Cell, outcomes: Outcomes): string {
  const marks = outcomes.map((outcome) =>
    outcome === 'works' ? works : 'notApplicable' in outcome ? notApplicable : fails,
  )
  return `| ${[client, front, back, server, ...marks].join(' | ')} |`
}

/** The page, from what a run of all cells found. */
export function pageOf(found: readonly (readonly [Cell, Outcomes])[]): string {
  const reasons = new Map<string, Set<string>>()
  for (const [, outcomes] of found) {
    for (const [place, outcome] of outcomes.entries()) {
      if (typeof outcome !== 'object' || !('notApplicable' in outcome)) continue
      const name = checks[place]?.name ?? ''
      reasons.set(name, (reasons.get(name) ?? new Set()).add(outcome.notApplicable))
    }
  }
  const heads = ['client', 'front', 'back', 'server', ...checks.map(({ name }) => name)]
  return [
    '# Every client before every server, through `atenea-proxy`',
    '',
    '<!-- Written by `npx -y pnpm@12 matrix`; a change by hand would be lost. -->',
    '',
    'Clients and servers of the official SDK, of both eras, on all carriers, with the built proxy between them, which finds out by itself',
    'what it speaks to. Clients of the SDK reach unix sockets by a transport of a few lines over our own dialer. `npx -y pnpm@12 matrix` runs',
    'all cells and writes this page. Every run of the tests takes nine of the cells, in which each value of one side meets each value of',
    'every other (`packages/testkit/test/proxy-matrix/cells.ts`), and fails when they do not come out as they stand here.',
    '',
    `| ${heads.join(' | ')} |`,
    `|${' --- |'.repeat(heads.length)}`,
    ...found.map(([cell, outcomes]) => rowOf(cell, outcomes)),
    '',
    `${works} works, ${notApplicable} there is nothing to look at:`,
    '',
    ...[...reasons].flatMap(([name, why]) => [...why].map((reason) => `- ${name}: ${reason}.`)),
    '',
    'What is looked at:',
    '',
    ...checks.map(({ name, shows }) => `- **${name}**: ${shows}.`),
    '',
  ].join('\n')
}
