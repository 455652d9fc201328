import { parseArgs } from 'node:util'
import { serveConnection } from '@atenea/mcpcompat/transport'
import { openStdio } from '@atenea/transport-stdio'
import { createConformanceCore } from './conformance-core.ts'
import { policyOfList } from './conformance-revisions.ts'

/** Serves what the official suite calls on stdin and stdout, until stdin ends. The suite itself reaches it by a proxy. */
export async function main(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...words], options: { revisions: { type: 'string' } } })
  await serveConnection(openStdio(), createConformanceCore(), {
    policy: policyOfList(values.revisions),
    onDiagnostic: ({ level, message }) => {
      if (level !== 'debug') process.stderr.write(`${level}: ${message}\n`)
    },
  })
}
