import type { Logger } from '@atenea/cli'
import { systemClock } from '@atenea/mcpcompat/transport'

/** After how long it is said that a start takes long, and how often again. */
const firstMs = 3_000
const factor = 2.5

/** Says on stderr, less and less often, that a server is still being connected to, so that nobody takes a download for a hang. */
export async function withPatience<T>(name: string, hint: string, logger: Logger, connecting: Promise<T>): Promise<T> {
  const begun = systemClock.now()
  let timer: NodeJS.Timeout | undefined
  const sayLater = (delayMs: number): void => {
    timer = setTimeout(() => {
      const seconds = Math.round((systemClock.now() - begun) / 1000)
      logger.info(`still waiting for ${name}, for ${seconds} s now${hint}`)
      sayLater(delayMs * factor)
    }, delayMs)
    timer.unref()
  }
  sayLater(firstMs)
  try {
    return await connecting
  } finally {
    clearTimeout(timer)
  }
}
