import { bumpTool, echoTool, fillerTools, sleepTool } from './definitions.ts'
import { benchEnvironment } from './environment.ts'

const { era, tools } = benchEnvironment()
const modern = era === 'modern'
const complete = modern ? '"resultType":"complete",' : ''
const cacheable = modern ? ',"ttlMs":0,"cacheScope":"private"' : ''
const info = '{"name":"bare","version":"1.0.0"}'
/** Result of `tools/list`. */
export const listResult: string = `{${complete}"tools":${JSON.stringify([echoTool, sleepTool, bumpTool, ...fillerTools(tools)])}${cacheable}}`

const capabilities = '"capabilities":{"tools":{"listChanged":true}}'

/** Result of `server/discover`. */
export function discoverResult(version: string): string {
  return `{${complete}"supportedVersions":["${version}"],${capabilities}${cacheable},"_meta":{"io.modelcontextprotocol/serverInfo":${info}}}`
}

/** Result of `initialize`. */
export function initializeResult(version: string): string {
  return `{"protocolVersion":"${version}",${capabilities},"serverInfo":${info}}`
}

/** Result of a call that answers one text. */
export function textResult(text: string): string {
  return `{${complete}"content":[{"type":"text","text":${JSON.stringify(text)}}]}`
}

/** The opening of clients of the other era, which this server does not know. */
export const unknownOpening: string = modern ? 'initialize' : 'server/discover'

/** What is answered to it. */
export function unknownMethod(id: number | undefined): string {
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}`
}
