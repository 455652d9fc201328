import {
  type HeaderPlan,
  type Implementation,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  mergeHints,
  method,
  noCache,
  type ServerView,
} from '@atenea/mcpcompat'

export interface MergedViewParts {
  readonly info: Implementation
  /** What each backend offers that is there now, in the order of the configuration. */
  readonly views: readonly { readonly backend: string; readonly view: ServerView }[]
  /** Whether some backends are not there, so that more may be offered soon. */
  readonly isPartial: boolean
  readonly headerPlan: (tool: string) => HeaderPlan | undefined
}

/** What several backends offer together: the union of what they really have (F7), under the name of the proxy. */
export function mergedView({ info, views, isPartial, headerPlan }: MergedViewParts): ServerView {
  const instructions = instructionsOf(views)
  return {
    info,
    ...(instructions !== undefined && { instructions }),
    capabilities: mergeCapabilities(views.map(({ view }) => view.capabilities)),
    hints: isPartial ? noCache : mergeHints(views.map(({ view }) => view.hints ?? noCache)),
    has: (name) => name === method.discover || name === method.listen || views.some(({ view }) => view.has(name)),
    headerPlan,
  }
}

/** A flag is set when any backend sets it; anything else is what the first backend says. */
function mergeCapabilities(all: readonly JsonObject[]): JsonObject {
  return all.reduce(union, {})
}

function union(first: JsonObject, second: JsonObject): JsonObject {
  const merged = new Map<string, JsonValue | undefined>(Object.entries(first))
  for (const [key, value] of Object.entries(second)) merged.set(key, both(merged.get(key), value))
  return Object.fromEntries(merged)
}

function both(first: JsonValue | undefined, second: JsonValue | undefined): JsonValue | undefined {
  if (first === undefined || first === false) return second ?? first
  return isJsonObject(first) && isJsonObject(second) ? union(first, second) : first
}

/** Each backend's own words under its name, since they speak of its own tools. */
function instructionsOf(views: MergedViewParts['views']): string | undefined {
  const parts = views.flatMap(({ backend, view: { instructions } }) =>
    instructions === undefined || instructions === '' ? [] : [`# ${backend}\n\n${instructions}`],
  )
  return parts.length > 0 ? parts.join('\n\n') : undefined
}
