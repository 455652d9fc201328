import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Where Debian and its kin, and CHROMIUM_PATH, have the browser. */
const candidates = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** Path of a Chromium on this machine. `undefined` where there is none: npm alone cannot bring one. */
export const chromiumPath: string | undefined = candidates.find((path) => path !== undefined && existsSync(path))

/** A real browser, without a window. Closing it ends its processes. */
export async function launchBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('there is no chromium')
  // Its sandbox needs rights that containers and root do not have; the pages are our own.
  return await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}
