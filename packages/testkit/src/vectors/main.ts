// Runs a file of vectors: one line for each case that fails, then `N passed, N failed`. Exit codes: 0 all passed, 1 some
// failed, 2 the file cannot be read or is not of the format.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describeFailure, runVector } from './run-vectors.ts'
import { parseVectorFile, type VectorFile, VectorFileError } from './vector-file.ts'

function main(args: readonly string[]): number {
  const [path, ...others] = args.filter((argument) => argument !== '--')
  if (path === undefined || others.length > 0) return usage('usage: pnpm vectors FILE')
  let file: VectorFile
  try {
    file = parseVectorFile(readFileSync(locate(path), 'utf8'))
  } catch (error) {
    const isOurs = error instanceof VectorFileError || (error as NodeJS.ErrnoException).code !== undefined
    if (!isOurs) throw error
    return usage(`vectors: ${path}: ${(error as Error).message}`)
  }
  let failed = 0
  for (const vector of file.vectors) {
    const outcome = runVector(vector, file)
    if (outcome.passed) continue
    failed++
    process.stdout.write(`${describeFailure(vector, outcome)}\n`)
  }
  process.stdout.write(`${file.vectors.length - failed} passed, ${failed} failed\n`)
  return failed === 0 ? 0 : 1
}

/** A package manager runs scripts in the root; the caller may have named the file from where they stood. */
function locate(path: string): string {
  const fromCaller = resolve(process.env['INIT_CWD'] ?? '.', path)
  return existsSync(fromCaller) ? fromCaller : path
}

function usage(message: string): number {
  process.stderr.write(`${message}\n`)
  return 2
}

// whoever reads may stop early, as `head` does
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
process.exitCode = main(process.argv.slice(2))
