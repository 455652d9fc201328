import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

// What the official suite starts as the client under test: probes the URL that the suite adds, and keeps the report for the test.
const url = process.argv.at(-1) ?? ''
const bin = join(import.meta.dirname, '../../bin/atenea-probe.js')
const { stdout } = spawnSync(process.execPath, [bin, '--format', 'json', url], { encoding: 'utf8', timeout: 60_000 })
writeFileSync(process.env['PROBE_REPORT'] ?? '', stdout)
