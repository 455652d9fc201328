import { describe, expect, test } from 'vitest'
import { everyReport } from '../../test/_util/every-report.ts'
import {
  findingOf,
  listOf,
  lockedReport,
  runOf,
  sampleReport,
  unreachableReport,
} from '../../test/_util/sample-reports.ts'
import { catalog } from '../findings/catalog.ts'
import { runSarif } from './sarif.ts'

interface Rule {
  readonly id: string
  readonly shortDescription: { readonly text: string }
  readonly fullDescription: { readonly text: string }
  readonly help: { readonly text: string }
  readonly helpUri: string
  readonly defaultConfiguration: { readonly level: string }
}
interface Result {
  readonly ruleId: string
  readonly ruleIndex: number
  readonly level: string
  readonly message: { readonly text: string }
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string }
      readonly region: { readonly startLine: number }
    }
    readonly logicalLocations: readonly { readonly fullyQualifiedName: string }[]
  }[]
  readonly partialFingerprints: Readonly<Record<string, string>>
}
interface Log {
  readonly $schema: string
  readonly version: string
  readonly runs: readonly {
    readonly tool: { readonly driver: { readonly name: string; readonly rules: readonly Rule[] } }
    readonly results: readonly Result[]
    readonly invocations: readonly {
      readonly executionSuccessful: boolean
      readonly toolConfigurationNotifications: readonly unknown[]
    }[]
  }[]
}

function log(text: string): Log['runs'][number] {
  const { version, runs } = JSON.parse(text) as Log
  const [run] = runs
  if (version !== '2.1.0' || run === undefined || runs.length > 1) throw new Error('not one run of version 2.1.0')
  return run
}

describe('SARIF', () => {
  test('every kind of finding is a rule that says what it means and what to do', () => {
    const { rules } = log(runSarif(runOf(sampleReport()))).tool.driver
    expect(rules.map(({ id }) => id)).toEqual([
      ...Object.keys(catalog),
      'unreachable',
      'auth-required',
      'no-era',
      'tool-failed',
    ])
    for (const { shortDescription, fullDescription, help, helpUri, defaultConfiguration } of rules) {
      expect([shortDescription.text, fullDescription.text, help.text].every((text) => text.length > 10)).toBe(true)
      expect(URL.canParse(helpUri)).toBe(true)
      expect(['error', 'warning', 'note']).toContain(defaultConfiguration.level)
    }
  })

  test.each(everyReport)(
    '%s: each result points at its rule and has a place, a message and a fingerprint',
    (_name, report) => {
      const { results, tool } = log(runSarif(runOf(report)))
      const isBad = report.outcome !== 'fine' || report.verdict.era === 'none'
      expect(results).toHaveLength(report.findings.length + (isBad ? 1 : 0))
      for (const { ruleId, ruleIndex, level, message, locations, partialFingerprints } of results) {
        expect(tool.driver.rules[ruleIndex]?.id).toBe(ruleId)
        expect(['error', 'warning', 'note']).toContain(level)
        expect(message.text.length).toBeGreaterThan(0)
        expect(locations[0]?.logicalLocations[0]?.fullyQualifiedName.length).toBeGreaterThan(0)
        expect(locations[0]?.physicalLocation.artifactLocation.uri).toMatch(/^[!-~]+$/)
        expect(Object.keys(partialFingerprints)).toEqual(['ateneaProbe/v1'])
      }
    },
  )

  test('results of one server keep their fingerprints from run to run, and no two share one', () => {
    const findings = [
      findingOf('error', { subject: 'a' }),
      findingOf('error', { subject: 'b' }),
      findingOf('error', { era: 'legacy' }),
    ]
    const prints = (): readonly string[] =>
      log(runSarif(runOf(sampleReport({ findings, started: new Date().toISOString() })))).results.map(
        ({ partialFingerprints }) => partialFingerprints['ateneaProbe/v1'] ?? '',
      )
    expect(new Set(prints()).size).toBe(3)
    expect(prints()).toEqual(prints())
  })

  test('that nobody gets in is a result too, and a wrong configuration is told beside the results', () => {
    const { results, invocations } = log(runSarif(listOf(unreachableReport(), lockedReport())))
    expect(results.map(({ ruleId }) => ruleId)).toEqual(['unreachable', 'auth-required'])
    expect(results[0]?.message.text).toContain('ECONNREFUSED')
    expect(invocations[0]?.executionSuccessful).toBe(false)
    expect(invocations[0]?.toolConfigurationNotifications).toHaveLength(1)
  })

  test('what a server says makes no link in a viewer', () => {
    const findings = [findingOf('error', { evidence: 'name: "[sign in](https://evil.example)"' })]
    const [result] = log(runSarif(runOf(sampleReport({ findings })))).results
    expect(result?.message.text).toContain('[sign in] (https://evil.example)')
  })

  test('the file of a result is the configuration, or what was asked, as services that show results want it', () => {
    const uriOf = (text: string): string | undefined =>
      log(text).results[0]?.locations[0]?.physicalLocation.artifactLocation.uri
    expect(uriOf(runSarif(listOf(unreachableReport())))).toBe('folder/mcp.json')
    expect(uriOf(runSarif(runOf(unreachableReport())))).toBe('http://127.0.0.1:3000/mcp')
    const command = { kind: 'command', text: 'node a b/c.js --x=ü?' } as const
    expect(uriOf(runSarif(runOf(unreachableReport({ target: command }))))).toBe('node%20a%20b/c.js%20--x%3D%C3%BC%3F')
  })
})
