import { type JsonObject, method } from '@atenea/mcpcompat'
import { createHttpWire } from '../wire/http-wire.ts'
import { createHttpTalk, type CreateHttpTalkOptions } from './http-talk.ts'

/** A wrong path is told at once, so the right one has to be as well. */
const timeoutMs = 2_000
const noParams: JsonObject = {}

/** The URL of the same host at which MCP is spoken, where one is as usual as to be tried; for a path that was mistyped or forgotten. */
export async function lookNearby(url: URL, options: Omit<CreateHttpTalkOptions, 'wire'>): Promise<URL | undefined> {
  for (const candidate of candidatesOf(url)) {
    using wire = createHttpWire(candidate, options.signal)
    const answer = await createHttpTalk({ ...options, wire, timeoutMs }).send(method.discover, noParams, {})
    if (answer.response !== undefined) return candidate
  }
  return undefined
}

function candidatesOf(url: URL): readonly URL[] {
  const { pathname } = url
  const turned = pathname.endsWith('/') ? pathname.slice(0, -1) : `${pathname}/`
  const paths = new Set(['/mcp', ...(turned.length > 1 ? [turned] : [])])
  paths.delete(pathname)
  return [...paths].map((path) => new URL(path, url))
}
