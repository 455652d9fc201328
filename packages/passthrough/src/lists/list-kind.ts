import { method, notice } from '@atenea/mcpcompat'

/** One of the four lists that a server offers. */
export interface ListKind {
  /** Asks for a page of it. */
  readonly method: string
  /** The member of the result that holds the items. */
  readonly member: 'tools' | 'prompts' | 'resources' | 'resourceTemplates'
  /** The member of an item that names it. */
  readonly key: 'name' | 'uri' | 'uriTemplate'
  /** What says that the list has changed. */
  readonly changed: string
  /** What one item is called in reports. */
  readonly noun: string
}

export const toolList: ListKind = {
  method: method.listTools,
  member: 'tools',
  key: 'name',
  changed: notice.toolsChanged,
  noun: 'tool',
}

export const promptList: ListKind = {
  method: method.listPrompts,
  member: 'prompts',
  key: 'name',
  changed: notice.promptsChanged,
  noun: 'prompt',
}

export const resourceList: ListKind = {
  method: method.listResources,
  member: 'resources',
  key: 'uri',
  changed: notice.resourcesChanged,
  noun: 'resource',
}

export const templateList: ListKind = {
  method: method.listResourceTemplates,
  member: 'resourceTemplates',
  key: 'uriTemplate',
  changed: notice.resourcesChanged,
  noun: 'resource template',
}

export const listKinds: readonly ListKind[] = [toolList, promptList, resourceList, templateList]

const byMethod: ReadonlyMap<string, ListKind> = new Map(listKinds.map((kind) => [kind.method, kind]))

/** The list that a method asks for. */
export function listOf(methodName: string): ListKind | undefined {
  return byMethod.get(methodName)
}
