import type { AppContext, Logger } from '@atenea/cli'
import { logDiagnostics } from '@atenea/fronts'
import { systemClock, within } from '@atenea/mcpcompat/transport'
import type { Passthrough } from '@atenea/passthrough'
import type { Readiness } from '@atenea/transport-http'
import { assemble } from './assemble.ts'
import { LazySignIns } from './auth/lazy-sign-ins.ts'
import { Children } from './backends/children.ts'
import type { Settings } from './settings.ts'
import { reportStatus } from './status/report.ts'

export interface OpenProxyOptions {
  readonly settings: Settings
  readonly logger: Logger
  readonly context: AppContext
  /** The configuration that the settings are from, as it was named. */
  readonly configFile: string | undefined
}

/** The proxy without its fronts. Disposing it stops all servers, and resolves when nothing is left of what was started. */
export interface OpenProxy extends AsyncDisposable {
  readonly passthrough: Passthrough
  /** How it and its servers are. */
  readonly report: Readiness
}

/** How long a look at servers that were out of reach may hold up a report, in milliseconds. */
const lookMs = 1_000

export function openProxy({ settings, logger, context, configFile }: OpenProxyOptions): OpenProxy {
  const { redactor, environment, shutdown } = context
  const onDiagnostic = logDiagnostics(logger)
  const signIns = new LazySignIns({ environment, redactor, onDiagnostic, config: configFile })
  const children = new Children()
  // Whoever names one command means it to run; a configuration may name a dozen of which one is used.
  const startsAtOnce = configFile === undefined
  const passthrough = assemble(settings, { logger, redactor, signIns, children, startsAtOnce })
  return {
    passthrough,
    async report() {
      // Whoever keeps clients away while a server is out of reach would otherwise never hear that it is back.
      const look = signIns.looking(async (except) => await passthrough.lookAgain({ signal: shutdown, except }))
      await within(look, lookMs, systemClock)
      return reportStatus(
        passthrough.status(),
        (text) => redactor.redact(text),
        (server) => signIns.needed(server),
      )
    },
    async [Symbol.asyncDispose]() {
      await passthrough[Symbol.asyncDispose]()
      await children[Symbol.asyncDispose]()
      signIns[Symbol.dispose]()
    },
  }
}
