import type { Logger } from '@atenea/cli'
import type { OnPassthroughEvent } from '@atenea/passthrough'

/** Writes what happens to the servers behind the proxy to the log. */
export function logEvents(logger: Logger): OnPassthroughEvent {
  return (event) => {
    const { backend: server } = event
    switch (event.kind) {
      case 'connected': {
        const { requested, observed, row, restart } = event
        logger.info(restart ? 'connected again' : 'connected', { server, requested, observed, row })
        return
      }
      case 'connect-failed':
        logger.warning(`cannot connect: ${event.message}`, { server, retryInMs: event.retryInMs })
        return
      case 'lost':
        logger.warning(`the connection was lost: ${event.message}`, { server, failedCalls: event.failedCalls })
        return
      case 'timeout':
        logger.warning(`no answer within ${event.afterMs} ms`, { server, method: event.method })
        return
      case 'list': {
        const { level, code, message, names } = event
        logger.log(level, message, { server, code, names: names.length === 0 ? undefined : names.join(', ') })
      }
    }
  }
}
