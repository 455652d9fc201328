import {
  createRevisionPolicy,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  RpcError,
  revisionsOf,
  rpcCode,
  TransportError,
  toObject,
} from '@atenea/mcpcompat'
import { type ClientConnection, connectDuplex, createCallerContext, linkSignals } from '@atenea/mcpcompat/transport'
import { connectHttp } from '@atenea/transport-http'
import { createNodeSend } from '@atenea/transport-http/node'
import { dialSocket } from '@atenea/transport-stdio'
import { isUrl } from '@atenea/fronts'
import { version } from './version.ts'

type Headers = Readonly<Record<string, string>>

/** How long the server may take for all answers together. */
const timeoutMs = 10_000

/** Whatever can be spoken will do for these questions. */
const policy = createRevisionPolicy({ legacy: revisionsOf('legacy') })

/**
 * Asks the server at a socket or a URL what it serves, as any client would, and gives that as text; `headers` are for a URL. Rejects with a `TransportError` when
 * it cannot be asked.
 */
export async function serverStatus(path: string, headers: Headers, shutdown: AbortSignal): Promise<string> {
  using linked = linkSignals([shutdown], { timeoutMs })
  const { signal } = linked
  try {
    await using connection = await connect(path, headers, signal)
    return await statusText(path, connection, signal)
  } catch (error) {
    if (error !== signal.reason) throw error
    const text = `the server at ${path} did not answer within ${timeoutMs / 1000} s`
    throw new TransportError('timeout', text, { cause: error })
  }
}

function connect(path: string, headers: Headers, signal: AbortSignal): Promise<ClientConnection> {
  const options = { policy, info: { name: 'atenea-server status', version }, signal }
  if (isUrl(path)) return connectHttp(path, { ...options, headers, send: createNodeSend(), openStream: false })
  return connectDuplex(async ({ signal: dialling }) => await dialSocket(path, { signal: dialling }), {
    ...options,
    startsProcess: false,
  })
}

async function statusText(path: string, connection: ClientConnection, signal: AbortSignal): Promise<string> {
  const { info } = connection.server
  const name = info === undefined ? 'A server without a name' : `${info.name} ${info.version}`
  const sections = [
    section(
      'Revisions',
      (await revisions(connection, signal)).map((revision) => [revision]),
    ),
    section('Tools', await list(connection, 'tools/list', 'tools', 'name', signal)),
    section('Prompts', await list(connection, 'prompts/list', 'prompts', 'name', signal)),
    section('Resources', await list(connection, 'resources/list', 'resources', 'uri', signal)),
    section(
      'Resource templates',
      await list(connection, 'resources/templates/list', 'resourceTemplates', 'uriTemplate', signal),
    ),
  ]
  return `${printable(name)} answers at ${path}\n\n${sections.join('')}`
}

/** All revisions that the server says it serves; one that has no discovery has shown only the one that was agreed on. */
async function revisions(connection: ClientConnection, signal: AbortSignal): Promise<readonly string[]> {
  if (policy.accepts(connection.observed) === 'legacy') return [connection.observed]
  const supported = (await ask(connection, 'server/discover', {}, signal))?.['supportedVersions']
  return Array.isArray(supported) ? supported.map(String) : [connection.observed]
}

/** Each entry as its key and, where it has one, its title. */
async function list(
  connection: ClientConnection,
  method: string,
  member: string,
  key: string,
  signal: AbortSignal,
): Promise<readonly (readonly string[])[]> {
  const entries: JsonValue[] = []
  const cursors = new Set<string>()
  let params: JsonObject = {}
  for (;;) {
    const page = await ask(connection, method, params, signal)
    const items = page?.[member]
    if (Array.isArray(items)) entries.push(...(items as readonly JsonValue[]))
    const cursor = page?.['nextCursor']
    if (typeof cursor !== 'string' || cursors.has(cursor)) break
    cursors.add(cursor)
    params = { cursor }
  }
  return entries.filter(isJsonObject).map((entry) => {
    const title = entry['title'] ?? (key === 'name' ? undefined : entry['name'])
    return [textOf(entry[key]), ...(typeof title === 'string' ? [title] : [])]
  })
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '(no name)'
}

/** The result, or `undefined` where the server does not know the method. */
async function ask(
  connection: ClientConnection,
  method: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  try {
    const outcome = await connection.call({ method, params }, createCallerContext({ signal }))
    return outcome.kind === 'result' ? toObject(outcome.value) : undefined
  } catch (error) {
    if (RpcError.is(error) && error.code === rpcCode.methodNotFound) return undefined
    throw error
  }
}

function section(title: string, entries: readonly (readonly string[])[]): string {
  if (entries.length === 0) return `${title}: none\n`
  const width = Math.max(...entries.map(([key = '']) => key.length))
  const lines = entries.map(([key = '', note]) => `  ${note === undefined ? key : `${key.padEnd(width)}  ${note}`}`)
  return `${title}:\n${lines.map((line) => `${printable(line)}\n`).join('')}`
}

/** Names come from the server; none may move the cursor of a terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '\ufffd')
}
