import type { Report, Step } from '../../report.ts'
import { duration, inOrder, signs, stepWord } from '../words.ts'
import { html, type Markup } from './markup.ts'

const rowHeight = 36
const barHeight = 10
const axisHeight = 24
const ticks = 4
/** A step that took no time is still there to see. */
const thinnest = 0.4

/**
 * The steps of a probe as bars over time: a picture, and the same as a table for those who do not see it. Positions are shares of
 * the width and letters keep their size, so that it is as readable on a phone as on a desk.
 */
export function waterfall({ steps: recorded, durationMs }: Report, id: string): Markup | undefined {
  const steps = inOrder(recorded)
  if (steps.length === 0) return undefined
  const end = niceEnd(Math.max(durationMs, ...steps.map((step) => step.startMs + step.durationMs)))
  const height = steps.length * rowHeight + axisHeight
  const described = steps.map((step) => `${label(step)}: ${duration(step.durationMs)}, after ${duration(step.startMs)}`)
  return html`<figure>
<svg class="waterfall" height="${height}" role="img" aria-labelledby="${id}-title ${id}-desc">
<title id="${id}-title">Timing: ${duration(durationMs)} in all</title>
<desc id="${id}-desc">${described.join('; ')}</desc>
${Array.from({ length: ticks + 1 }, (_, tick) => axis(tick, end, height))}
${steps.map((step, index) => row(step, index, end))}
</svg>
<figcaption>${keys(steps).map(([kind, text]) => html`<span class="key ${kind}">${text}</span>`)}</figcaption>
</figure>
<details><summary>The same as a table</summary>${timesTable(steps)}</details>`
}

function row(step: Step, index: number, end: number): Markup {
  const top = index * rowHeight
  const from = Math.min(100 - thinnest, (step.startMs / end) * 100)
  const width = Math.max(thinnest, Math.min(100 - from, (step.durationMs / end) * 100))
  return html`<text x="0" y="${top + 15}">${label(step)}</text>
<text class="soft" x="100%" y="${top + 15}" text-anchor="end">${duration(step.durationMs)}</text>
<rect class="${kindOf(step)}" x="${from.toFixed(2)}%" y="${top + 20}" width="${width.toFixed(2)}%" height="${barHeight}" rx="3"/>
`
}

function axis(tick: number, end: number, height: number): Markup {
  const x = (tick / ticks) * 100
  const anchor = tick === 0 ? 'start' : tick === ticks ? 'end' : 'middle'
  return html`<line class="rule" x1="${x}%" x2="${x}%" y1="0" y2="${height - axisHeight}"/>
<text class="soft" x="${x}%" y="${height - 6}" text-anchor="${anchor}">${tick === 0 ? '0' : duration((end * tick) / ticks)}</text>
`
}

function timesTable(steps: readonly Step[]): Markup {
  const rows = steps.map(
    (
      step,
    ) => html`<tr><th scope="row">${label(step)}</th><td class="number">${duration(step.startMs)}</td><td class="number">${duration(step.durationMs)}</td><td>${step.detail}</td></tr>
`,
  )
  return html`<div class="scroll" role="group" aria-label="Times" tabindex="0"><table><thead><tr><th scope="col">step</th><th scope="col" class="number">after</th><th scope="col" class="number">took</th><th scope="col">seen</th></tr></thead><tbody>
${rows}</tbody></table></div>`
}

function label(step: Step): string {
  const era = step.era === undefined ? '' : ` (${step.era})`
  return `${step.ok ? '' : `${signs.bad} `}${stepWord(step.name)}${era}${step.ok ? '' : ', failed'}`
}

type Kind = 'way' | 'legacy' | 'modern' | 'failed'

function kindOf(step: Step): Kind {
  return step.ok ? (step.era ?? 'way') : 'failed'
}

function keys(steps: readonly Step[]): readonly (readonly [Kind, string])[] {
  const all: readonly (readonly [Kind, string])[] = [
    ['way', 'on the way'],
    ['legacy', 'legacy'],
    ['modern', 'modern'],
    ['failed', 'failed'],
  ]
  return all.filter(([kind]) => steps.some((step) => kindOf(step) === kind))
}

/** The end of the axis: a round number, so that its marks are round too. */
function niceEnd(ms: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(ms, 1)))
  return [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].map((factor) => factor * size).find((end) => end >= ms) ?? 10 * size
}
