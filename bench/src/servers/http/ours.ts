import { createRevisionPolicy } from '@atenea/mcpcompat'
import { listenHttp } from '@atenea/transport-http/node'
import { core } from '../our-core.ts'
import { tellPort } from './listen.ts'
import { onSignals } from './on-signals.ts'

const bodyTimeoutMs = process.env['BENCH_BODY_TIMEOUT_MS']
const headersTimeoutMs = process.env['BENCH_HEADERS_TIMEOUT_MS']
const { port, handler } = await listenHttp(core, {
  policy: createRevisionPolicy(),
  // more than the streams suites open
  maxSessions: Number(process.env['BENCH_MAX_SESSIONS'] ?? 20_000),
  ...(bodyTimeoutMs !== undefined && { bodyTimeoutMs: Number(bodyTimeoutMs) }),
  ...(headersTimeoutMs !== undefined && { headersTimeoutMs: Number(headersTimeoutMs) }),
})
tellPort(port)
onSignals(() => {
  core.notifyToolsChanged()
  process.stderr.write(`open ${handler.openCalls} ${handler.sessions}\n`)
})
