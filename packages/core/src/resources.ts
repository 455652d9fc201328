import {
  type CacheHints,
  type Call,
  type CallContext,
  JsonText,
  type OnDiagnostic,
  type Outcome,
  RpcError,
  noCache,
  rpcCode,
  toObject,
  toText,
} from '@atenea/mcpcompat'
import { checkParams } from '@atenea/mcpcompat/transport'
import type { Completer } from './completion.ts'
import { type ResourceContents, checkMeta, encodeResourceContents } from './content.ts'
import { checkAnnotations, checkDefinition } from './definition-checks.ts'
import { DefinitionError } from './definition-error.ts'
import type { Handler, HandlerRunner } from './handler-runner.ts'
import { checkHints } from './hints.ts'
import type { Registered } from './registry.ts'
import { requestFailure } from './request-failure.ts'
import type { ContentsEntry, ReadResult, Resource, ResourceTemplate } from './resource.ts'
import { type TemplateVariables, type UriTemplate, parseUriTemplate } from './uri-template.ts'

/** Longest URI that is looked up, in UTF-16 code units. */
export const maxUriLength = 8192

interface ReadArguments {
  readonly uri: string
  readonly variables: TemplateVariables
  /** Decides on the hints of the result from those that the resource gives. */
  readonly hints: (given: CacheHints | undefined) => CacheHints
}

/** A resource that is ready to be listed and read. */
export interface RegisteredResource extends Registered {
  readonly handler: Handler<ReadArguments>
}

/** A template that is ready to be listed, and read through. */
export interface RegisteredTemplate extends Registered {
  readonly template: UriTemplate
  readonly completers: ReadonlyMap<string, Completer | undefined>
  readonly handler: Handler<ReadArguments>
}

/** Makes a resource ready. A `DefinitionError` says which resource and what to do. */
export function registerResource(resource: Resource, report: OnDiagnostic): RegisteredResource {
  const { uri, name, title, description, mimeType, size, annotations, icons, _meta } = resource
  const where = `resource ${JSON.stringify(uri)}`
  if (typeof uri !== 'string' || !isAbsoluteUri(uri)) throw new DefinitionError(`${where}: uri is no absolute URI`)
  const entry = { uri, name, title, description, mimeType, size, annotations, icons, _meta }
  return { key: uri, json: listEntry(entry, where), handler: readHandler(resource, where, report) }
}

/** Makes a template ready. A `DefinitionError` says which template and what to do. */
export function registerTemplate(resource: ResourceTemplate, report: OnDiagnostic): RegisteredTemplate {
  const { uriTemplate, name, title, description, mimeType, annotations, icons, _meta } = resource
  const where = `resource template ${JSON.stringify(uriTemplate)}`
  const template = parse(uriTemplate, where)
  const completers = new Map<string, Completer | undefined>(template.names.map((variable) => [variable, undefined]))
  for (const [variable, completer] of Object.entries(resource.complete ?? {})) {
    if (!completers.has(variable))
      throw new DefinitionError(`${where}: complete names ${JSON.stringify(variable)}, which is no variable`)
    completers.set(variable, completer)
  }
  const entry = { uriTemplate, name, title, description, mimeType, annotations, icons, _meta }
  return {
    key: uriTemplate,
    json: listEntry(entry, where),
    template,
    completers,
    handler: readHandler(resource, where, report),
  }
}

function parse(uriTemplate: string, where: string): UriTemplate {
  try {
    return parseUriTemplate(uriTemplate)
  } catch (error) {
    throw new DefinitionError(`${where}: ${(error as Error).message}`, { cause: error })
  }
}

function listEntry(entry: { readonly name: string }, where: string): string {
  if (typeof entry.name !== 'string' || entry.name === '') throw new DefinitionError(`${where} has no name`)
  return toText(entry)
}

function readHandler(
  resource: Resource | ResourceTemplate,
  label: string,
  report: OnDiagnostic,
): Handler<ReadArguments> {
  checkDefinition(resource, label)
  checkAnnotations(resource.annotations, label)
  checkHints(resource.hints, `${label}: hints`)
  return {
    label,
    mayAsk: true,
    timeoutMs: resource.timeoutMs,
    invoke: ({ uri, variables }, context) => resource.read({ uri, variables }, context),
    encode: (returned, args) => encodeRead(returned, args, resource),
    fail: requestFailure(label, report),
  }
}

function encodeRead(returned: unknown, { uri, hints }: ReadArguments, resource: Resource | ResourceTemplate): Outcome {
  if (returned === undefined) throw resourceNotFound(uri)
  const { contents, _meta, hints: own } = asResult(returned)
  checkHints(own, 'hints')
  checkMeta(_meta)
  const parts = contents.map((entry) => encodeResourceContents(complete(entry, uri, resource.mimeType)))
  const members = `"contents":[${parts.join(',')}]`
  const value =
    _meta === undefined
      ? JsonText.ofMembers(members, ['contents'], true)
      : JsonText.ofMembers(`${members},"_meta":${toText(_meta)}`, ['contents', '_meta'])
  return { kind: 'result', value, hints: hints(own ?? resource.hints) }
}

function asResult(returned: unknown): ReadResult {
  if (typeof returned === 'string') return { contents: [{ text: returned }] }
  if (returned instanceof Uint8Array) return { contents: [{ blob: returned }] }
  if (Array.isArray(returned)) return { contents: returned as readonly ContentsEntry[] }
  if (typeof returned === 'object' && returned !== null) {
    if ('contents' in returned && Array.isArray(returned.contents)) return returned as ReadResult
    if ('text' in returned || 'blob' in returned) return { contents: [returned as ContentsEntry] }
  }
  throw new TypeError('reading gives text, bytes, contents, or undefined for what does not exist')
}

function complete(entry: ContentsEntry, uri: string, mimeType: string | undefined): ResourceContents {
  return { ...entry, uri: entry.uri ?? uri, mimeType: entry.mimeType ?? mimeType }
}

/** The error for a resource that does not exist, or that this principal may not use (MC-RES-03, A-30). */
export function resourceNotFound(uri: string): RpcError {
  return new RpcError(rpcCode.invalidParams, 'Resource not found', { data: { uri } })
}

/** What one principal may read. */
export interface ReadView {
  resource(uri: string): RegisteredResource | undefined
  /** The first template that this URI is of, if the principal may read it. */
  template(uri: string): { readonly item: RegisteredTemplate; readonly variables: TemplateVariables } | undefined
  readonly readHints: CacheHints
  /** Whether results differ by principal, so that none may be shared. */
  readonly isPrivate: boolean
}

/** Answers `resources/read`. */
export function readResource(
  view: ReadView,
  runner: HandlerRunner,
  call: Call,
  context: CallContext,
): Outcome | Promise<Outcome> {
  const fault = checkParams(call.method, call.params)
  if (fault !== undefined) throw new RpcError(rpcCode.invalidParams, fault)
  const uri = toObject(call.params).uri as string
  if (!isAbsoluteUri(uri)) throw new RpcError(rpcCode.invalidParams, 'uri must be an absolute URI')
  const hints = (given: CacheHints | undefined): CacheHints => {
    // Nobody may store the answer to a retry.
    if (context.resume !== undefined) return noCache
    const wanted = given ?? view.readHints
    return view.isPrivate ? { ttlMs: wanted.ttlMs, cacheScope: 'private' } : wanted
  }
  const exact = view.resource(uri)
  if (exact !== undefined) return runner.run(exact.handler, { uri, variables: {}, hints }, call, context)
  const found = view.template(uri)
  if (found === undefined) throw resourceNotFound(uri)
  return runner.run(found.item.handler, { uri, variables: found.variables, hints }, call, context)
}

/** The first template that a URI is of, and the values of its variables. A path that climbs is of none (MC-RES-10). */
export function matchTemplate(
  templates: Iterable<RegisteredTemplate>,
  uri: string,
): { readonly item: RegisteredTemplate; readonly variables: TemplateVariables } | undefined {
  if (hasOddPath(uri)) return undefined
  for (const item of templates) {
    const variables = item.template.match(uri)
    if (variables !== undefined) return { item, variables }
  }
  return undefined
}

/** Whether a text has the outer form of an absolute URI (RFC 3986): a scheme, then no space and no control character. */
export function isAbsoluteUri(text: string): boolean {
  return text.length <= maxUriLength && /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\p{Cc}]*$/u.test(text)
}

/** A URI without percent-encoding; `undefined` when that is broken. */
export function decodeUri(uri: string): string | undefined {
  try {
    return decodeURIComponent(uri)
  } catch {
    return undefined
  }
}

/** Whether the path, percent-decoded, has a segment `..` or a control character. */
function hasOddPath(uri: string): boolean {
  const path = decodeUri(uri.replace(/[?#].*$/s, ''))
  return path === undefined || /\p{Cc}/u.test(path) || path.split(/[/\\]/).includes('..')
}
