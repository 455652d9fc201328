import type { Run } from '../../run.ts'
import { version } from '../../version.ts'
import { moodOfReport, signs, targetName } from '../words.ts'
import { html, Markup } from './markup.ts'
import { badge, serverSection, summaryRow } from './server.ts'
import { styles } from './styles.ts'

/** Nothing may be loaded and nothing may run, whatever a server calls itself. */
const contentPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** A run as one page that needs nothing else, and has no script. */
export function runHtml(run: Run): string {
  const { reports, notProbed, config } = run
  const idOf = (index: number): string => `server-${index + 1}`
  const started = reports[0]?.started
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy}">
<meta name="referrer" content="no-referrer">
<title>${titleOf(run)}</title>
<style>${new Markup(styles)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the results</a>
<header><h1>MCP probe${config !== undefined ? `: ${reports.length + notProbed.length} servers` : ''}</h1></header>
<main id="main">
${config === undefined ? undefined : summary(run, idOf)}
${reports.map((report, index) => serverSection(report, idOf(index)))}
</main>
<footer>atenea-probe ${version}${started === undefined ? undefined : html`, <time datetime="${started}">${started.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}</time>`}</footer>
</body>
</html>
`.text
}

function titleOf({ reports, notProbed, config }: Run): string {
  const [report] = reports
  if (config !== undefined || report === undefined) return `MCP probe of ${reports.length + notProbed.length} servers`
  return `${signs[moodOfReport(report)]} ${targetName(report)} — MCP probe`
}

function summary({ reports, notProbed }: Run, idOf: (index: number) => string): Markup {
  const others = notProbed.map(({ name, reason, detail }) => {
    const mood = reason === 'disabled' ? 'plain' : 'bad'
    return html`<tr><th scope="row"><span class="named">${badge(mood, signs[mood])} <span>${name}</span></span></th><td colspan="3"><div class="detail">${detail}</div></td><td class="narrow"></td></tr>
`
  })
  return html`<div class="all"><h2>All servers</h2>
<div class="scroll" role="group" aria-label="All servers" tabindex="0"><table><thead><tr><th scope="col">server</th><th scope="col">legacy</th><th scope="col">modern</th><th scope="col">findings</th><th scope="col" class="number narrow">time</th></tr></thead><tbody>
${reports.map((report, index) => summaryRow(report, idOf(index)))}${others}</tbody></table></div></div>`
}
