import { UsageError } from '@atenea/cli'
import type { ServerTarget } from '@atenea/cli/config'
import { isUrl } from '@atenea/fronts'
import { basename, resolve } from 'node:path'

/** A server that the command line names. */
export interface NamedTarget {
  /** Made from how it is reached, for logs. */
  readonly name: string
  readonly target: ServerTarget
}

/** What stands after `--`. */
export function commandTarget(words: readonly string[]): NamedTarget {
  const [command, ...args] = words
  if (command === undefined || command === '') throw new UsageError('a command has to follow --')
  return { name: nameOf(command, args), target: { kind: 'command', command, args, env: {}, cwd: undefined } }
}

/** A URL, or `unix:PATH`. */
export function wordTarget(word: string): NamedTarget {
  if (word.startsWith('unix:')) {
    const path = word.slice('unix:'.length)
    if (path === '') throw new UsageError('unix: needs the path of a socket, such as unix:/run/user/1000/server.sock')
    return { name: basename(path).replace(/\.sock$/, ''), target: { kind: 'socket', path: resolve(path) } }
  }
  if (isUrl(word)) return urlTarget(word, 'http')
  const scheme = /^[a-z][\w+.-]*:\/\//i.exec(word)?.[0]
  if (scheme !== undefined) throw new UsageError(`a server is reached by http:// or https://, not by ${scheme}`)
  throw new UsageError(
    `${JSON.stringify(word)} is neither a URL nor unix:PATH; a command to start comes after two hyphens: atenea-proxy -- ${word}`,
  )
}

export function urlTarget(word: string, kind: 'http' | 'sse'): NamedTarget {
  if (!isUrl(word) || !URL.canParse(word)) {
    throw new UsageError('the URL of a server must begin with http:// or https:// and be whole')
  }
  return { name: new URL(word).host, target: { kind, url: word, headers: {} } }
}

/** Programs that start another one, which is what people know the server by. */
const launchers = /^(?:npx|bunx|uvx|pnpx|node|bun|deno|python3?|tsx|uv|pnpm|yarn|npm)(?:\.cmd|\.exe)?$/i

/** Whether a command may have to fetch what it starts, and two at once could get into each other’s way. */
export function mayDownload(command: string): boolean {
  return /^(?:npx|bunx|uvx|pnpx|pnpm|yarn|npm|uv|pipx|docker|podman)(?:\.cmd|\.exe)?$/i.test(basename(command))
}

function nameOf(command: string, args: readonly string[]): string {
  const program = basename(command)
  if (!launchers.test(program)) return program
  const started = args.find(
    (arg) => /^[@\w./-]/.test(arg) && !arg.startsWith('-') && !/^(?:run|exec|dlx|x|tool)$/.test(arg),
  )
  if (started === undefined) return program
  // `@scope/server@1.2.3` is `server`
  return (
    basename(started)
      .replace(/(?<=.)@[^@]*$/, '')
      .replace(/\.[cm]?[jt]s$/, '') || program
  )
}
