import { authorizationFindings } from './authorization.ts'
import { discoveryFindings } from './discovery.ts'
import { httpFindings } from './http.ts'
import type { FindingKinds } from './kind.ts'
import { listFindings } from './lists.ts'
import { messageFindings } from './messages.ts'
import { processFindings } from './processes.ts'
import { subscriptionFindings } from './subscriptions.ts'

const areas: readonly (readonly [title: string, kinds: FindingKinds])[] = [
  ['Discovery and handshake', discoveryFindings],
  ['Messages', messageFindings],
  ['Lists and what stands in them', listFindings],
  ['Subscriptions', subscriptionFindings],
  ['HTTP', httpFindings],
  ['Authorization', authorizationFindings],
  ['Processes and sockets', processFindings],
]

const begin = '<!-- findings: written by `pnpm --filter @atenea/probe findings-page` -->'
const end = '<!-- end of findings -->'

/** The page with its part between the marks replaced by tables of all findings. */
export function withFindingsTable(page: string): string {
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error('the page has no place for the findings')
  return `${before}${begin}\n\n${areas.map(areaText).join('\n')}\n${end}${after}`
}

function areaText([title, kinds]: readonly [string, FindingKinds]): string {
  const rows = Object.entries(kinds).map(([id, { level, requirements, title: meaning, repair }]) => {
    const cells = [`\`${id}\``, level, cell(meaning), cell(repair), requirements.join(', ')]
    return `| ${cells.join(' | ')} |`
  })
  return [
    `### ${title}`,
    '',
    '| id | level | what it means | repair | rule |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

/** `|` would end the cell, and `<` or `*` could be taken for more than they are. */
function cell(text: string): string {
  return text.replace(/[|<>*_`[\]\\]/g, (character) => `\\${character}`)
}
