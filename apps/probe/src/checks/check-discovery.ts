import { isJsonObject, type JsonObject, type JsonValue } from '@atenea/mcpcompat'
import { isExtensionId, metaKey } from '@atenea/mcpcompat/transport'
import type { Conversation } from '../conversation.ts'
import { show } from '../show.ts'

/** The discovery result, member by member. What holds for every result is checked elsewhere. */
export function checkDiscovery(to: Conversation, result: JsonObject): void {
  const { supportedVersions, capabilities, instructions, serverInfo } = result
  if (!(Array.isArray(supportedVersions) && supportedVersions.every((entry) => typeof entry === 'string'))) {
    to.found('discover-versions', { evidence: `supportedVersions: ${show(supportedVersions)}` })
  } else if (supportedVersions.length === 0) to.found('discover-no-version', { evidence: 'supportedVersions: []' })
  if (!isJsonObject(capabilities))
    to.found('discover-capabilities', { evidence: `capabilities: ${show(capabilities)}` })
  else checkCapabilities(to, capabilities)
  if (instructions !== undefined && typeof instructions !== 'string') {
    to.found('discover-instructions', { evidence: `instructions: ${show(instructions)}` })
  }
  checkEmptyInstructions(to, instructions)
  const meta = result['_meta']
  const info = isJsonObject(meta) ? meta[metaKey.serverInfo] : undefined
  if (serverInfo !== undefined) to.found('discover-top-level-info', { evidence: `serverInfo: ${show(serverInfo)}` })
  else if (!isServerInfo(info)) to.found('discover-server-info', { evidence: `_meta: ${show(meta)}` })
}

/** The answer to `initialize`, member by member. */
export function checkHandshake(to: Conversation, result: JsonObject): void {
  const { protocolVersion, capabilities, instructions, serverInfo } = result
  if (typeof protocolVersion !== 'string' || !isJsonObject(capabilities)) {
    const evidence = `protocolVersion: ${show(protocolVersion)}, capabilities: ${show(capabilities)}`
    to.found('initialize-malformed', { evidence })
  }
  if (isJsonObject(capabilities)) checkCapabilities(to, capabilities)
  if (instructions !== undefined && typeof instructions !== 'string') {
    to.found('initialize-instructions', { evidence: `instructions: ${show(instructions)}` })
  }
  checkEmptyInstructions(to, instructions)
  if (!isServerInfo(serverInfo)) to.found('initialize-server-info', { evidence: `serverInfo: ${show(serverInfo)}` })
}

function checkEmptyInstructions(to: Conversation, instructions: JsonValue | undefined): void {
  if (instructions === '') to.found('instructions-empty', { evidence: 'instructions: ""' })
}

/** Switches of capabilities that must be booleans. */
const switches = ['listChanged', 'subscribe']

function checkCapabilities(to: Conversation, capabilities: JsonObject): void {
  for (const [name, value] of Object.entries(capabilities)) {
    if (!isJsonObject(value)) {
      to.found('capability-shape', { subject: name, evidence: `${name}: ${show(value)}` })
      continue
    }
    for (const member of switches) {
      const flag = value[member]
      if (flag !== undefined && typeof flag !== 'boolean') {
        to.found('capability-shape', { subject: name, evidence: `${name}.${member}: ${show(flag)}` })
      }
    }
  }
  const { extensions } = capabilities
  if (to.era === 'legacy' || !isJsonObject(extensions)) return
  for (const [name, value] of Object.entries(extensions)) {
    if (!isExtensionId(name) || !isJsonObject(value)) {
      to.found('capability-extension', { subject: name, evidence: `extensions[${show(name)}]: ${show(value)}` })
    }
  }
}

function isServerInfo(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value) && typeof value['name'] === 'string' && typeof value['version'] === 'string'
}
