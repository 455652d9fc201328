import { type ClientConnection, legacyVerdictMs, type ServerEra } from '@atenea/mcpcompat/transport'
import type { VerdictStore } from '@atenea/transport-http'

/**
 * Connects with what is remembered of a server’s era, and remembers what shows. What is known is dropped when the connecting fails, and
 * when the server takes it back later (decisions 1.5).
 */
export async function withKnownEra(
  key: string,
  verdicts: VerdictStore | undefined,
  connect: (prior: ServerEra | undefined) => Promise<ClientConnection>,
): Promise<ClientConnection> {
  if (verdicts === undefined) return await connect(undefined)
  const prior = await known(key, verdicts)
  let connection: ClientConnection
  try {
    connection = await connect(prior)
  } catch (error) {
    if (prior !== undefined) await verdicts.delete(key)
    throw error
  }
  await keep(key, verdicts, prior, connection.verdict)
  void connection.ended.then(async () => {
    if (connection.verdict === undefined) await verdicts.delete(key)
  })
  return connection
}

async function known(key: string, verdicts: VerdictStore): Promise<ServerEra | undefined> {
  const stored = await verdicts.get(key)
  if (stored === undefined) return undefined
  if (stored.expiresAt === undefined || stored.expiresAt > Date.now()) return stored
  await verdicts.delete(key)
  return undefined
}

/** A legacy verdict is not renewed by being used, or it would never expire. */
async function keep(
  key: string,
  verdicts: VerdictStore,
  prior: ServerEra | undefined,
  found: ServerEra | undefined,
): Promise<void> {
  if (found === undefined || (found.era === prior?.era && found.revision === prior.revision)) return
  const expiresAt = found.era === 'legacy' ? Date.now() + legacyVerdictMs : undefined
  await verdicts.set(key, { ...found, expiresAt })
}
