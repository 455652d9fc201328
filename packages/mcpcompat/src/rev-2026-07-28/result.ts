import { noCache } from '../cache-hints.ts'
import type { Ask, CacheHints, Call, Outcome } from '../contract/call.ts'
import type { Implementation } from '../contract/dispatcher.ts'
import { addMembers, omitMembers, replaceMember } from '../jsonrpc/edit.ts'
import { type JsonRecord, type JsonValue, isJsonObject, toText } from '../jsonrpc/json.ts'
import { JsonText } from '../jsonrpc/json-text.ts'
import type { RpcId } from '../jsonrpc/message.ts'
import { metaKey } from '../meta.ts'
import { inputRequestsText } from '../results.ts'

const complete = '"resultType":"complete"'

type FinalOutcome = Outcome & { readonly kind: 'result' }

/**
 * Writes results of the modern revision. What is the same for every result is text made once: a result that is only added to
 * costs a concatenation, whatever its size.
 */
export class ResultWriter {
  /** `,"_meta":{…}` naming this server (MC-META-10), or nothing when it is not to be named. */
  readonly #metaMember: string
  /** What nearly every result gets in front. */
  readonly #usual: string
  /** The member of `_meta` alone. */
  readonly #serverInfo: string
  /** Wire forms of results that come again and again, by the instance that the dispatcher gives. */
  readonly #steady = new WeakMap<JsonText, { readonly hints: CacheHints | undefined; readonly wire: JsonRecord }>()

  constructor(serverInfo: Implementation | undefined) {
    this.#serverInfo = serverInfo === undefined ? '' : `"${metaKey.serverInfo}":${toText(serverInfo)}`
    this.#metaMember = serverInfo === undefined ? '' : `,"_meta":{${this.#serverInfo}}`
    this.#usual = complete + this.#metaMember
  }

  /**
   * A complete result (MC-RT-01, -02), with cache hints where the method has them (MC-CACHE-01); the answer to a retry is for
   * nobody to cache. Members that the value has already are left as they are.
   */
  complete(outcome: FinalOutcome, cacheable: boolean, retried: boolean): JsonRecord {
    const { value } = outcome
    const hints = cacheable ? (retried ? noCache : (outcome.hints ?? noCache)) : undefined
    if (JsonText.is(value)) {
      const usual = hints === undefined && !value.has('resultType') && !value.has('_meta')
      return usual ? addMembers(value, this.#usual) : this.#completeText(value, hints)
    }
    let added = value['resultType'] === undefined ? complete : ''
    if (hints !== undefined) {
      if (value['ttlMs'] === undefined) added += `,"ttlMs":${hints.ttlMs}`
      if (value['cacheScope'] === undefined) added += `,"cacheScope":"${hints.cacheScope}"`
    }
    const meta = value['_meta']
    if (meta !== undefined) return this.#append(this.#nameServer(value, meta), added)
    return this.#append(value, added + this.#metaMember)
  }

  /** The same, kept: for results whose very instance a dispatcher gives again and again. */
  steady(outcome: FinalOutcome, cacheable: boolean): JsonRecord {
    const { value, hints } = outcome
    if (!JsonText.is(value)) return this.complete(outcome, cacheable, false)
    const known = this.#steady.get(value)
    if (known !== undefined && known.hints?.ttlMs === hints?.ttlMs && known.hints?.cacheScope === hints?.cacheScope) {
      return known.wire
    }
    const wire = this.complete(outcome, cacheable, false)
    this.#steady.set(value, { hints, wire })
    return wire
  }

  /** The closing result of a subscription (MC-SUB-12). */
  closing(id: RpcId): JsonRecord {
    const info = this.#serverInfo === '' ? '' : `,${this.#serverInfo}`
    return JsonText.ofMembers(`${complete},"_meta":{"${metaKey.subscriptionId}":${JSON.stringify(id)}${info}}`)
  }

  /** A result of a type that is not ours to judge, as it came. */
  other(outcome: Outcome & { readonly kind: 'other' }): JsonRecord {
    return isJsonObject(outcome.raw) || JsonText.is(outcome.raw) ? outcome.raw : {}
  }

  /** A result that asks for input. It never carries cache hints (MC-CACHE-02). Unknown members of a relayed one are kept. */
  ask(ask: Ask): JsonRecord {
    let members = '"resultType":"input_required"'
    if (ask.inputRequests !== undefined && ask.inputRequests.size > 0) {
      members += `,"inputRequests":${inputRequestsText(ask.inputRequests)?.line ?? writeRequests(ask.inputRequests)}`
    }
    if (ask.requestState !== undefined) members += `,"requestState":${JSON.stringify(ask.requestState)}`
    const raw = new JsonText(toText(ask.raw))
    const others = raw.isObject ? omitMembers(raw, isAskMember) : new JsonText('{}')
    if (!others.has('_meta')) return addMembers(others, members + this.#metaMember)
    return addMembers(this.#nameServer(others, others.member('_meta')?.value), members)
  }

  #completeText(value: JsonText, hints: CacheHints | undefined): JsonRecord {
    let added = value.has('resultType') ? '' : complete
    if (hints !== undefined) {
      if (!value.has('ttlMs')) added += `,"ttlMs":${hints.ttlMs}`
      if (!value.has('cacheScope')) added += `,"cacheScope":"${hints.cacheScope}"`
    }
    if (value.has('_meta')) return this.#append(this.#nameServer(value, value.member('_meta')?.value), added)
    return this.#append(value, added + this.#metaMember)
  }

  #append(value: JsonRecord, added: string): JsonRecord {
    if (added === '') return value
    return addMembers(value, added.charCodeAt(0) === 0x2c /* , */ ? added.slice(1) : added)
  }

  /** A value that brought a `_meta` of its own gets our name added to it, unless it names a server already. */
  #nameServer(value: JsonRecord, meta: JsonValue | undefined): JsonRecord {
    if (this.#serverInfo === '' || !isJsonObject(meta) || meta[metaKey.serverInfo] !== undefined) return value
    const text = JsonText.is(value) ? value : new JsonText(toText(value))
    const own = text.member('_meta') ?? new JsonText('{}')
    return replaceMember(text, '_meta', addMembers(own, this.#serverInfo).text)
  }
}

function writeRequests(inputRequests: ReadonlyMap<string, Call>): string {
  const requests = [...inputRequests].map(
    ([key, request]) =>
      `${JSON.stringify(key)}:{"method":${JSON.stringify(request.method)},"params":${toText(request.params)}}`,
  )
  return `{${requests.join(',')}}`
}

function isAskMember(key: string): boolean {
  return (
    key === 'resultType' || key === 'inputRequests' || key === 'requestState' || key === 'ttlMs' || key === 'cacheScope'
  )
}
