/**
 * A vitest reporter that writes down what a run showed, test by test, as JSON into the file that `ATENEA_TEST_RECORD`
 * names. `scripts/test.ts` counts from it and `scripts/requirements.ts` reads which requirement a test really showed.
 */
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestModule, TestSuite } from 'vitest/node'

/** One test of a run. */
export interface RecordedTest {
  readonly file: string
  /** Title with the titles of its suites, outermost first, rows of `test.each` spelled out. */
  readonly name: string
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending'
  /** Why it was skipped, where the test said so. */
  readonly note?: string | undefined
}

/** What a run showed. */
export interface TestRecord {
  readonly tests: readonly RecordedTest[]
  /** What went wrong outside of any test: a file that does not load, a failed hook, a rejection that nobody handled. */
  readonly faults: readonly string[]
}

/** Loaded by vitest through its path, hence the default export. */
export default class TestRecorder implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { readonly message: string }[]): void {
    const path = process.env['ATENEA_TEST_RECORD']
    if (path === undefined) return
    const faults = unhandled.map((error) => error.message)
    const tests: RecordedTest[] = []
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId)
      const suites = [module, ...module.children.allSuites()]
      faults.push(...suites.flatMap((suite) => suite.errors().map((error) => `${file}: ${error.message}`)))
      for (const test of module.children.allTests()) {
        const result = test.result()
        // A hook that failed counts once, not once more for each test that it kept from running.
        if (result.state === 'skipped' && isBroken(test.parent)) continue
        const note = result.state === 'skipped' ? result.note : undefined
        tests.push({ file, name: test.fullName, state: result.state, note })
      }
    }
    writeFileSync(path, JSON.stringify({ tests, faults } satisfies TestRecord))
  }
}

function isBroken(suite: TestSuite | TestModule): boolean {
  return suite.errors().length > 0 || (suite.type === 'suite' && isBroken(suite.parent))
}
