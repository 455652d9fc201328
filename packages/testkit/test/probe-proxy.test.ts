import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Running } from './_util/running.ts'

const probeBin = join(import.meta.dirname, '../../../apps/probe/bin/atenea-probe.js')
if (!existsSync(join(probeBin, '../../dist/main.js'))) {
  throw new Error('apps/probe is not built: run npx -y pnpm@12 build first')
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'atenea-probe-proxy-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Report {
  readonly verdict: { readonly era: string }
  readonly findings: readonly { readonly id: string; readonly level: string; readonly evidence?: string }[]
}

async function probe(url: string): Promise<Report> {
  const { stdout } = await promisify(execFile)(process.execPath, [probeBin, '--format', 'json', url], {
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    maxBuffer: 16 * 1024 * 1024,
  })
  return JSON.parse(stdout) as Report
}

describe('the built probe finds no error in the built proxy, in either era, whoever is behind it', () => {
  test.each(['sdk-v1', 'sdk-v2', 'tmcp'])('%s', async (name) => {
    const server = join(import.meta.dirname, `../fixtures/servers/${name}.ts`)
    const args = ['--', process.execPath, '--no-warnings', server]
    await using proxy = new Running({ app: 'proxy', args, folder })
    const { verdict, findings } = await probe(await proxy.url())
    expect(verdict.era).toBe('dual')
    expect(findings.filter(({ level }) => level === 'error')).toEqual([])
  })
})
