import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import axe, { type AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runHtml } from '../src/output/html/page.ts'
import type { Run } from '../src/run.ts'
import { chromiumPath, launchBrowser } from './_util/browser.ts'
import { everyReport } from './_util/every-report.ts'
import { findingOf, hostileReport, listOf, runOf, sampleReport } from './_util/sample-reports.ts'

const folder = mkdtempSync(join(tmpdir(), 'atenea-page-'))
let browser: Browser | undefined

beforeAll(async () => {
  if (chromiumPath !== undefined) browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach((context) => {
  context.skip(chromiumPath === undefined, 'needs chromium')
})

const phone = { width: 390, height: 844 }
const desk = { width: 1280, height: 900 }

interface Opened extends AsyncDisposable {
  readonly page: Page
  /** What must not happen: errors, messages of the console, dialogs, and requests for anything but the page. */
  readonly incidents: readonly string[]
}

async function open(run: Run, viewport = desk, colorScheme: 'light' | 'dark' = 'light'): Promise<Opened> {
  if (browser === undefined) throw new Error('the browser is not there')
  const file = join(folder, 'page.html')
  writeFileSync(file, runHtml(run))
  const address = pathToFileURL(file).href
  const context = await browser.newContext({ viewport, colorScheme })
  const page = await context.newPage()
  const incidents: string[] = []
  page.on('pageerror', (error) => incidents.push(`error ${error.message}`))
  page.on('console', (message) => incidents.push(`console ${message.text()}`))
  page.on('dialog', (dialog) => {
    incidents.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (request.url() !== address) incidents.push(`request ${request.url()}`)
  })
  await page.goto(address)
  return { page, incidents, [Symbol.asyncDispose]: async () => await context.close() }
}

/** Each rule of axe that is broken, with the places. Folded parts are opened first, so that they are judged too. */
async function axeFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate('for (const fold of document.querySelectorAll("details")) fold.open = true')
  await page.evaluate(axe.source)
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify({ runOnly: tags })})`)
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => String(target)).join(', ')}`)
}

const findings = [
  findingOf('error', { era: 'modern', subject: 'brew' }),
  findingOf('warning', { more: 2 }),
  findingOf('note', { evidence: `"${'x'.repeat(400)}"` }),
]
const faulty = sampleReport({ findings, stderr: 'ready\nsomething went wrong' })
const runs: readonly (readonly [string, Run])[] = [
  ['a server with findings', runOf(faulty)],
  [
    'all kinds of servers',
    listOf(...everyReport.map(([name, report]) => ({ ...report, target: { ...report.target, name } }))),
  ],
  ['a hostile server', runOf(hostileReport())],
]

describe('the page in a browser', () => {
  describe.each(runs)('%s', (_name, run) => {
    test.each([
      ['phone', 'light', phone],
      ['phone', 'dark', phone],
      ['desk', 'light', desk],
      ['desk', 'dark', desk],
    ] as const)(
      'axe finds nothing at the width of a %s, %s, and nothing is wider than the window',
      async (_width, scheme, viewport) => {
        await using opened = await open(run, viewport, scheme)
        expect(await axeFaults(opened.page)).toEqual([])
        expect(
          await opened.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
        ).toBeLessThanOrEqual(0)
        expect(opened.incidents).toEqual([])
      },
    )
  })

  test('nothing runs and nothing is fetched, whatever a server calls itself, and its text is there to read', async () => {
    await using opened = await open(listOf(hostileReport()))
    expect(await opened.page.locator('script, img, iframe, object, link, base, form').count()).toBe(0)
    expect(await opened.page.locator('h2').nth(1).innerText()).toContain('<script>alert(1)</script>')
    expect(opened.incidents).toEqual([])
  })

  test('light and dark look different, as the system asks', async () => {
    const colours: string[] = []
    for (const scheme of ['light', 'dark'] as const) {
      await using opened = await open(runOf(faulty), desk, scheme)
      colours.push(await opened.page.evaluate<string>('getComputedStyle(document.body).backgroundColor'))
    }
    expect(new Set(colours).size).toBe(2)
  })

  test('by keyboard alone: the first stop skips to the results, and findings fold', async () => {
    await using opened = await open(runOf(faulty))
    const { page } = opened
    const focused = async (): Promise<string> => await page.evaluate<string>('document.activeElement.textContent')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to the results')
    await page.keyboard.press('Tab')
    expect(await focused()).toContain(findings[0]?.id)
    const fold = page.locator('details').first()
    expect(await fold.getAttribute('open')).toBe('')
    expect(await page.getByText(findings[0]?.repair ?? '').isVisible()).toBe(true)
    await page.keyboard.press('Enter')
    expect(await fold.getAttribute('open')).toBeNull()
    expect(await page.getByText(findings[0]?.repair ?? '').isVisible()).toBe(false)
    await page.keyboard.press('Space')
    expect(await fold.getAttribute('open')).toBe('')
  })

  test('a screen reader hears verdicts, headings and the picture of the times', async () => {
    await using opened = await open(runOf(faulty))
    const { page } = opened
    expect(await page.getByRole('heading', { level: 2 }).innerText()).toBe('works for clients of both eras')
    expect(await page.getByRole('heading', { name: 'Legacy clients' }).innerText()).toMatch(/✓ works/)
    expect(await page.getByRole('img', { name: 'with defects' }).count()).toBe(1)
    const picture = page.getByRole('img', { name: /^Timing: 432 ms in all/ })
    expect(await picture.getAttribute('aria-labelledby')).toBe('server-1-timing-title server-1-timing-desc')
    expect(await page.locator('desc').textContent()).toContain('tools (modern): 120 ms, after 50 ms')
  })

  test.each([
    ['phone', phone],
    ['desk', desk],
  ] as const)('the bars lie where their times are, also at the width of a %s', async (_name, viewport) => {
    await using opened = await open(runOf(faulty), viewport)
    const boxes = await opened.page.locator('svg.waterfall rect').all()
    const places = await Promise.all(boxes.map(async (box) => await box.boundingBox()))
    const whole = await opened.page.locator('svg.waterfall').boundingBox()
    if (whole === null) throw new Error('the picture is not shown')
    // The axis ends at 600 ms, the first round time beyond 431.5.
    const shown = places.map((place) => [
      Math.round((((place?.x ?? -1) - whole.x) / whole.width) * 600),
      Math.round(((place?.width ?? -1) / whole.width) * 600),
    ])
    for (const [index, { startMs, durationMs }] of faulty.steps.entries()) {
      expect(Math.abs((shown[index]?.[0] ?? -99) - startMs)).toBeLessThan(4)
      expect(Math.abs((shown[index]?.[1] ?? -99) - durationMs)).toBeLessThan(4)
    }
  })
})
