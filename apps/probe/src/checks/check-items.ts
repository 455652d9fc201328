import { isConformingToolName, isJsonObject, type JsonObject, type JsonValue } from '@atenea/mcpcompat'
import { annotationsFault, iconFault, planHeaders } from '@atenea/mcpcompat/transport'
import type { Conversation } from '../conversation.ts'
import type { FindingId } from '../findings/catalog.ts'
import type { Lists } from '../report.ts'
import { show } from '../show.ts'
import { schemaFaults } from './check-schema.ts'

/** What stands in the lists. */
export function checkItems(to: Conversation, lists: Lists): void {
  checkTools(to, lists.tools ?? [])
  checkPrompts(to, lists.prompts ?? [])
  checkResources(to, lists.resources ?? [])
  checkTemplates(to, lists.templates ?? [])
}

/** Whether a key comes up again among those seen. */
function repeats(seen: Set<string>, key: string): boolean {
  if (seen.has(key)) return true
  seen.add(key)
  return false
}

function checkTools(to: Conversation, tools: readonly JsonValue[]): void {
  const names = new Set<string>()
  for (const tool of tools) {
    const name = isJsonObject(tool) ? tool['name'] : undefined
    if (!isJsonObject(tool) || typeof name !== 'string') {
      to.found('tool-malformed', { evidence: show(tool) })
      continue
    }
    const about = (id: FindingId, evidence: string): void => to.found(id, { subject: name, evidence })
    if (repeats(names, name)) about('tool-duplicate', `name: ${show(name)}`)
    if (!isConformingToolName(name)) about('tool-name', `name: ${show(name)}`)
    const { description } = tool
    if (typeof description !== 'string' || description.trim() === '')
      about('tool-description', `description: ${show(description)}`)
    checkInputSchema(to, tool, about)
    checkOutputSchema(to, tool, about)
    checkHints(tool['annotations'], about)
    checkIcons(tool['icons'], about)
  }
}

type About = (id: FindingId, evidence: string) => void

function checkInputSchema(to: Conversation, tool: JsonObject, about: About): void {
  const { inputSchema } = tool
  if (!isJsonObject(inputSchema) || inputSchema['type'] !== 'object') {
    about('tool-input-schema', `inputSchema: ${show(inputSchema)}`)
    return
  }
  for (const { id, evidence } of schemaFaults(inputSchema)) about(id, `inputSchema: ${evidence}`)
  if (to.era === 'legacy') return
  const planned = planHeaders(inputSchema)
  if (!planned.ok) {
    about('param-header', planned.faults.join('; '))
    return
  }
  for (const { path, header } of planned.plan.declarations) {
    if (looksSecret(path.at(-1) ?? '')) about('param-header-sensitive', `${path.join('.')} → ${header}`)
  }
}

function looksSecret(name: string): boolean {
  return /pass(?:word|phrase)|secret|token|api[_-]?key|credential/i.test(name) && !/tokens$/i.test(name)
}

function checkOutputSchema(to: Conversation, { outputSchema }: JsonObject, about: About): void {
  if (outputSchema === undefined) return
  const isRight = isJsonObject(outputSchema) && (to.era === 'modern' || outputSchema['type'] === 'object')
  if (!isRight) {
    about('tool-output-schema', `outputSchema: ${show(outputSchema)}`)
    return
  }
  for (const { id, evidence } of schemaFaults(outputSchema)) about(id, `outputSchema: ${evidence}`)
}

const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']

function checkHints(annotations: JsonValue | undefined, about: About): void {
  if (annotations === undefined) return
  if (!isJsonObject(annotations)) {
    about('tool-annotations', `annotations: ${show(annotations)}`)
    return
  }
  const wrong = hints.find((hint) => annotations[hint] !== undefined && typeof annotations[hint] !== 'boolean')
  const { title } = annotations
  if (wrong !== undefined) about('tool-annotations', `${wrong}: ${show(annotations[wrong])}`)
  else if (title !== undefined && typeof title !== 'string') about('tool-annotations', `title: ${show(title)}`)
  if (annotations['readOnlyHint'] === true && annotations['destructiveHint'] === true) {
    about('tool-hints-contradict', 'readOnlyHint: true, destructiveHint: true')
  }
}

function checkIcons(icons: JsonValue | undefined, about: About): void {
  if (icons === undefined) return
  if (!Array.isArray(icons)) {
    about('icon', `icons: ${show(icons)}`)
    return
  }
  for (const icon of icons as readonly JsonValue[]) {
    const fault = iconFault(icon)
    if (fault !== undefined) about('icon', `${show(icon)} ${fault}`)
  }
}

function checkPrompts(to: Conversation, prompts: readonly JsonValue[]): void {
  const names = new Set<string>()
  for (const prompt of prompts) {
    const name = isJsonObject(prompt) ? prompt['name'] : undefined
    if (!isJsonObject(prompt) || typeof name !== 'string') {
      to.found('prompt-malformed', { evidence: show(prompt) })
      continue
    }
    const about: About = (id, evidence) => to.found(id, { subject: name, evidence })
    if (repeats(names, name)) about('prompt-duplicate', `name: ${show(name)}`)
    const args = prompt['arguments']
    const isRight =
      args === undefined ||
      (Array.isArray(args) &&
        args.every((entry: JsonValue) => isJsonObject(entry) && typeof entry['name'] === 'string'))
    if (!isRight) about('prompt-malformed', `arguments: ${show(args)}`)
    checkIcons(prompt['icons'], about)
  }
}

/** RFC 3986: a scheme and something after it. */
const absoluteUri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s]+$/

function checkResources(to: Conversation, resources: readonly JsonValue[]): void {
  const uris = new Set<string>()
  for (const resource of resources) {
    const uri = isJsonObject(resource) ? resource['uri'] : undefined
    if (!isJsonObject(resource) || typeof uri !== 'string') {
      to.found('resource-malformed', { evidence: show(resource) })
      continue
    }
    const about: About = (id, evidence) => to.found(id, { subject: uri, evidence })
    if (repeats(uris, uri)) about('resource-duplicate', `uri: ${show(uri)}`)
    if (!absoluteUri.test(uri)) about('resource-malformed', `uri: ${show(uri)}`)
    else if (typeof resource['name'] !== 'string') about('resource-malformed', `name: ${show(resource['name'])}`)
    checkAnnotations(resource['annotations'], about)
    checkIcons(resource['icons'], about)
  }
}

function checkAnnotations(annotations: JsonValue | undefined, about: About): void {
  const fault = annotations === undefined ? undefined : annotationsFault(annotations)
  if (fault !== undefined) about('annotations', `${show(annotations)} ${fault}`)
}

/** RFC 6570: literals and expressions. */
const uriTemplate = /^(?:[^{}\s]|\{[+#./;?&]?[\w.%]+(?::\d+|\*)?(?:,[\w.%]+(?::\d+|\*)?)*\})+$/

function checkTemplates(to: Conversation, templates: readonly JsonValue[]): void {
  for (const template of templates) {
    const text = isJsonObject(template) ? template['uriTemplate'] : undefined
    if (!isJsonObject(template) || typeof text !== 'string') {
      to.found('template-malformed', { evidence: show(template) })
      continue
    }
    const about: About = (id, evidence) => to.found(id, { subject: text, evidence })
    if (!uriTemplate.test(text)) about('template-malformed', `uriTemplate: ${show(text)}`)
    else if (typeof template['name'] !== 'string') about('template-malformed', `name: ${show(template['name'])}`)
    checkAnnotations(template['annotations'], about)
    checkIcons(template['icons'], about)
  }
}
