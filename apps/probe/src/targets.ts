import { addEnvironmentSecrets, keepSecret, type Redactor, suggest, UsageError } from '@atenea/cli'
import type { ConfiguredServer } from '@atenea/cli/config'
import type { ProbeTarget } from './report.ts'
import type { NotProbed } from './run.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Headers = Readonly<Record<string, string>>

/** The target that a word of the command line names by itself: a URL or a socket. */
export function targetOfWord(word: string, headers: Headers): ProbeTarget | undefined {
  if (word.startsWith('unix:')) {
    const path = word.slice('unix:'.length)
    if (path === '') throw new UsageError('unix: needs the path of a socket after it')
    return { kind: 'socket', path }
  }
  if (!/^https?:\/\//i.test(word)) return undefined
  if (!URL.canParse(word)) throw new UsageError(`${JSON.stringify(word)} is no URL`)
  return { kind: 'url', url: word, headers }
}

/** The target that words after `--` are. */
export function targetOfCommand([command = '', ...args]: readonly string[]): ProbeTarget {
  if (command === '') throw new UsageError('-- needs a command after it, such as -- npx -y some-server')
  return { kind: 'command', command, args }
}

/** What to say about words of which the first is nothing that can be probed. */
export function noTarget(words: readonly string[]): UsageError {
  const [word = ''] = words
  if (word.startsWith('-')) return new UsageError(`unknown flag ${word}`)
  if (/^(?:localhost|[\w.-]+):\d+(?:\/|$)/.test(word)) {
    return new UsageError(
      `${JSON.stringify(word)} is no URL; did you mean http://${word}${word.includes('/') ? '' : '/mcp'}?`,
    )
  }
  if (/\.jsonc?$/.test(word)) {
    return new UsageError(
      `${JSON.stringify(word)} is no server; to probe those of a configuration write --config ${word}`,
    )
  }
  if (/^[\w-]+(?:\.[\w-]+)+(?:\/|$)/.test(word)) {
    return new UsageError(`${JSON.stringify(word)} is no URL; did you mean https://${word}? A command stands after --`)
  }
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(word) ?? []
  if (scheme !== undefined) {
    return new UsageError(
      `${scheme}: is no way to an MCP server that can be probed; a URL begins with http:// or https://`,
    )
  }
  return new UsageError(
    `${JSON.stringify(word)} is neither a URL nor unix:PATH; a command stands after --, as in: atenea-probe -- ${words.join(' ')}`,
  )
}

/** Servers of a configuration: those to probe, and those that cannot or should not be. */
export interface ConfiguredTargets {
  readonly targets: readonly ProbeTarget[]
  readonly notProbed: readonly NotProbed[]
  readonly warnings: readonly string[]
}

/** Reads servers of a client's configuration: all of them, or those with these names. */
export async function targetsOfConfig(
  file: string,
  names: readonly string[],
  environment: Environment,
  redactor: Redactor,
): Promise<ConfiguredTargets> {
  const { loadServers } = await import('@atenea/cli/config')
  const { servers, warnings } = await loadServers({ file, environment })
  for (const name of names) {
    if (servers.some((server) => server.name === name)) continue
    const meant = suggest(
      name,
      servers.map((server) => server.name),
    )
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    throw new UsageError(`${file} names no server ${JSON.stringify(name)}${hint}`)
  }
  const chosen = names.length === 0 ? servers : servers.filter(({ name }) => names.includes(name))
  const targets: ProbeTarget[] = []
  const notProbed: NotProbed[] = []
  for (const server of chosen) {
    const target = targetOfServer(server, redactor)
    if (target !== undefined) targets.push(target)
    else if (server.disabled)
      notProbed.push({ name: server.name, reason: 'disabled', detail: 'switched off in the configuration' })
    else notProbed.push({ name: server.name, reason: 'configuration', detail: server.faults.join('\n') })
  }
  return { targets, notProbed, warnings }
}

function targetOfServer({ name, target }: ConfiguredServer, redactor: Redactor): ProbeTarget | undefined {
  switch (target?.kind) {
    case undefined:
      return undefined
    case 'command':
      addEnvironmentSecrets(redactor, target.env)
      return { kind: 'command', name, command: target.command, args: target.args, cwd: target.cwd, env: target.env }
    case 'socket':
      return { kind: 'socket', name, path: target.path }
    case 'http':
    case 'sse':
      for (const [header, value] of Object.entries(target.headers)) keepSecret(header, value, redactor)
      return { kind: 'url', name, url: target.url, headers: target.headers }
  }
}
