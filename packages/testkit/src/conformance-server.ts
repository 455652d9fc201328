import { parseArgs } from 'node:util'
import { listenForConformance } from './conformance-listener.ts'
import { policyOfList } from './conformance-revisions.ts'

const usage = 'Usage: conformance-server PORT [--revisions LIST]'

/** Serves what the official suite calls on `http://127.0.0.1:PORT/mcp`, until a signal. */
export async function main(words: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...words],
    options: { revisions: { type: 'string' } },
    allowPositionals: true,
  })
  const port = Number(positionals[0])
  if (positionals.length !== 1 || !Number.isInteger(port)) throw new Error(usage)
  const listener = await listenForConformance({
    policy: policyOfList(values.revisions),
    port,
    onDiagnostic: ({ level, message }) => {
      if (level !== 'debug') process.stderr.write(`${level}: ${message}\n`)
    },
  })
  process.stderr.write(`listening on ${listener.url}\n`)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void listener.close({ timeoutMs: 1_000 }))
}
