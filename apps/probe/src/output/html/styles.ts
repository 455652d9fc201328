/** The styles of the page. Colours keep a contrast of at least 4.5 to 1 in both schemes; none of them says anything alone. */
export const styles = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1a1d23; --soft: #535a66; --line: #d7dbe2; --link: #0a57c2;
  --good: #17692f; --good-back: #e2f4e6; --mixed: #7a4b00; --mixed-back: #fdf0d5; --bad: #ab1c25; --bad-back: #fde7e7;
  --plain: #48505c; --plain-back: #e9ecf1; --bar-way: #6a7280; --bar-legacy: #9a5b00; --bar-modern: #2463c7; --bar-bad: #c0303a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12151a; --card: #1b1f26; --text: #e8eaee; --soft: #a9b1be; --line: #343b47; --link: #86b6ff;
    --good: #7fd698; --good-back: #16321f; --mixed: #f0bd68; --mixed-back: #3a2a0c; --bad: #ff9a9a; --bad-back: #44191c;
    --plain: #b9c1cd; --plain-back: #2b313b; --bar-way: #8d96a5; --bar-legacy: #e0a143; --bar-modern: #6ea4ff; --bar-bad: #f2737b;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main, header, footer { max-width: 60rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1.5rem; }
footer { padding: 1rem 1rem 2rem; color: var(--soft); font-size: .875rem; }
h1 { font-size: 1.1rem; margin: 0; font-weight: 600; color: var(--soft); }
h2 { font-size: 1.5rem; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; overflow-wrap: anywhere; }
p { margin: .25rem 0; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 4px; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875em; }
code { overflow-wrap: anywhere; }
pre { margin: .25rem 0; padding: .5rem .75rem; background: var(--page); border: 1px solid var(--line); border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .25rem .75rem; z-index: 1; }
.server { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.25rem; margin: 1rem 0 1.5rem; }
.target { color: var(--soft); overflow-wrap: anywhere; }
.verdict { display: flex; gap: .75rem; align-items: baseline; }
.badge { display: inline-block; padding: .05rem .55rem; border-radius: 999px; font-size: .8125rem; font-weight: 600; white-space: nowrap; }
.good { color: var(--good); background: var(--good-back); }
.mixed { color: var(--mixed); background: var(--mixed-back); }
.bad { color: var(--bad); background: var(--bad-back); }
.plain { color: var(--plain); background: var(--plain-back); }
.advice { border-left: 4px solid var(--bad); padding: .25rem 0 .25rem .75rem; margin: .75rem 0 0; }
.advice dt { font-weight: 600; } .advice dd { margin: 0 0 .25rem; }
.eras { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); margin-top: 1rem; }
.era { border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem; }
.era h3 { margin: 0 0 .25rem; display: flex; justify-content: space-between; gap: .5rem; align-items: baseline; flex-wrap: wrap; }
.era p { color: var(--soft); font-size: .9375rem; overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: minmax(6.5rem, max-content) minmax(0, 1fr); gap: .25rem 1rem; margin: 0; }
dt { overflow-wrap: anywhere; } dd { overflow-wrap: anywhere; }
.facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: 8px; margin: .5rem 0; padding: 0 .75rem; }
details[open] { padding-bottom: .75rem; }
summary { cursor: pointer; margin: 0 -.75rem; padding: .5rem .75rem; overflow-wrap: anywhere; }
details dd { margin-left: 1rem; } details .facts dd { margin-left: 0; }
summary code { font-weight: 600; }
summary .about { color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
th, td { text-align: left; padding: .35rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: break-word; }
thead th { color: var(--soft); font-weight: 600; font-size: .8125rem; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; } .scroll table { min-width: 30rem; }
.named { display: flex; gap: .4rem; align-items: baseline; } .named > :last-child { min-width: 5rem; overflow-wrap: anywhere; }
.lines { white-space: pre-line; }
.nobr { white-space: nowrap; }
.all { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .75rem 1rem; margin-top: 1rem; }
figure { margin: 0; }
figcaption { color: var(--soft); font-size: .875rem; display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
.waterfall { display: block; width: 100%; overflow: visible; }
.waterfall text { paint-order: stroke; stroke: var(--card); stroke-width: 4px; fill: var(--text); font-size: 13px; font-family: inherit; }
.waterfall .soft { fill: var(--soft); }
.waterfall .rule { stroke: var(--line); stroke-width: 1; }
.waterfall .way { fill: var(--bar-way); } .waterfall .legacy { fill: var(--bar-legacy); } .waterfall .modern { fill: var(--bar-modern); } .waterfall .failed { fill: var(--bar-bad); }
.key::before { content: ""; display: inline-block; width: .75rem; height: .75rem; border-radius: 3px; margin-right: .35rem; background: var(--bar-way); }
.key.legacy::before { background: var(--bar-legacy); } .key.modern::before { background: var(--bar-modern); } .key.failed::before { background: var(--bar-bad); }
.detail { max-width: max(10rem, calc(100vw - 16rem)); overflow-wrap: anywhere; }
@media print { body { background: none; } .server, .all { break-inside: avoid; } .skip { display: none; } }
@media (max-width: 40rem) { .server { padding: 1rem; } h2 { font-size: 1.25rem; } .facts { grid-template-columns: minmax(0, 1fr); gap: 0; } .facts dd { margin-bottom: .5rem; } .narrow { display: none; } }
`
