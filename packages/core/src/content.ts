import { isJsonObject, type JsonObject, type JsonValue, toText } from '@atenea/mcpcompat'
import { annotationsFault } from '@atenea/mcpcompat/transport'
import { encodeBase64, isBase64 } from './base64.ts'

/** Hints for whoever shows or sends on a part of a result (MC-RES-13). */
export interface ContentAnnotations {
  readonly audience?: readonly ('user' | 'assistant')[] | undefined
  /** From 0 to 1; 1 is needed, 0 is optional. */
  readonly priority?: number | undefined
  /** ISO 8601. */
  readonly lastModified?: string | undefined
}

interface ContentBase {
  readonly annotations?: ContentAnnotations | undefined
  readonly _meta?: JsonObject | undefined
}

export interface TextContent extends ContentBase {
  readonly type: 'text'
  readonly text: string
}

/** An image or sound. Bytes are encoded as base64; a string must be base64 already. */
export interface MediaContent extends ContentBase {
  readonly type: 'image' | 'audio'
  readonly data: Uint8Array | string
  readonly mimeType: string
}

/** A resource that can be read; it need not be listed (MC-TOOL-18). */
export interface ResourceLink extends ContentBase {
  readonly type: 'resource_link'
  readonly uri: string
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  /** In bytes. */
  readonly size?: number | undefined
  readonly icons?: readonly Icon[] | undefined
}

/** A resource given whole. */
export interface EmbeddedResource extends ContentBase {
  readonly type: 'resource'
  readonly resource: ResourceContents
}

/** One content of a resource: text, or bytes. Bytes are encoded as base64; a string must be base64 already (MC-RES-07). */
export type ResourceContents = {
  readonly uri: string
  readonly mimeType?: string | undefined
  readonly _meta?: JsonObject | undefined
} & (
  | { readonly text: string; readonly blob?: undefined }
  | { readonly blob: Uint8Array | string; readonly text?: undefined }
)

/** One part of a tool's result or of a prompt's message (MC-TOOL-17). */
export type ContentBlock = TextContent | MediaContent | ResourceLink | EmbeddedResource

/** A picture for clients that show lists (MC-ICON-04). */
export interface Icon {
  /** An `https:` or `data:` URI. */
  readonly src: string
  readonly mimeType?: string | undefined
  /** Such as `48x48` or `any`. */
  readonly sizes?: readonly string[] | undefined
  readonly theme?: 'light' | 'dark' | undefined
}

/** The JSON text of one text block. */
export function textBlock(text: string): string {
  return `{"type":"text","text":${toText(text)}}`
}

/** The member `content` of a result that is one text, in one piece, since nearly all results are such. */
export function textContent(text: string): string {
  return `"content":[{"type":"text","text":${toText(text)}}]`
}

/** The JSON text of a list of content blocks. A `TypeError` for what is no content block. */
export function encodeContent(blocks: readonly ContentBlock[]): string {
  return `[${blocks.map(encodeBlock).join(',')}]`
}

/** The JSON text of one content block. A `TypeError` when it is none. */
export function encodeBlock(block: ContentBlock): string {
  if (typeof block !== 'object' || block === null) throw new TypeError('a content block is not an object')
  checkMeta(block._meta)
  if (block.annotations !== undefined) {
    const fault = annotationsFault(block.annotations as JsonObject)
    if (fault !== undefined) throw new TypeError(`the annotations of a content block ${fault}`)
  }
  switch (block.type) {
    case 'text':
      if (typeof block.text !== 'string') throw new TypeError('a text block has no text')
      return block.annotations === undefined && block._meta === undefined ? textBlock(block.text) : encode(block)
    case 'image':
    case 'audio':
      if (typeof block.mimeType !== 'string') throw new TypeError(`an ${block.type} block has no mimeType`)
      return encode({ ...block, data: base64(block.data) })
    case 'resource':
      return encode({ ...block, resource: wireContents(block.resource) })
    case 'resource_link':
      if (typeof block.uri !== 'string' || typeof block.name !== 'string') {
        throw new TypeError('a resource link has no uri or no name')
      }
      return encode(block)
    default:
      throw new TypeError('a content block has none of the types text, image, audio, resource and resource_link')
  }
}

/** A `TypeError` for metadata that is no object. */
export function checkMeta(meta: unknown): void {
  if (meta !== undefined && !isJsonObject(meta as JsonValue)) throw new TypeError('_meta is not an object')
}

/** The JSON text of one content of a resource. A `TypeError` when it is none. */
export function encodeResourceContents(contents: ResourceContents): string {
  return encode(wireContents(contents))
}

function wireContents(contents: ResourceContents): object {
  if (typeof contents !== 'object' || contents === null || typeof contents.uri !== 'string') {
    throw new TypeError('the contents of a resource have no uri')
  }
  checkMeta(contents._meta)
  if (typeof contents.text === 'string') return contents
  if (contents.blob === undefined) throw new TypeError('the contents of a resource have neither text nor blob')
  return { ...contents, blob: base64(contents.blob) }
}

function base64(data: Uint8Array | string): string {
  if (data instanceof Uint8Array) return encodeBase64(data)
  if (typeof data === 'string' && isBase64(data)) return data
  throw new TypeError('binary content is neither bytes nor base64')
}

function encode(value: object): string {
  return toText(value as JsonObject)
}
