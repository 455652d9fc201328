import { createRevisionPolicy } from '@atenea/mcpcompat'
import { listenHttp } from '@atenea/transport-http/node'
import { core } from '../our-core.ts'
import { tellPort } from './listen.ts'
import { onSignals } from './on-signals.ts'

/* What the soak shortens, in milliseconds, so that it sees the end of things. */
const { BENCH_BODY_TIMEOUT_MS: body, BENCH_HEADERS_TIMEOUT_MS: head, BENCH_SESSION_TIMEOUT_MS: session } = process.env

const { port, handler } = await listenHttp(core, {
  policy: createRevisionPolicy(),
  // more than the streams suites open
  maxSessions: Number(process.env['BENCH_MAX_SESSIONS'] ?? 20_000),
  ...(body !== undefined && { bodyTimeoutMs: Number(body) }),
  ...(head !== undefined && { headersTimeoutMs: Number(head) }),
  ...(session !== undefined && { sessionIdleTimeoutMs: Number(session) }),
})
tellPort(port)
onSignals(() => {
  core.notifyToolsChanged()
  process.stderr.write(`open ${handler.openCalls} ${handler.sessions}\n`)
})
