import type { Call } from '../contract/call.ts'
import { notice as noticeName } from '../contract/methods.ts'
import type { PeerPort } from '../contract/peer-port.ts'
import { deliver, type PendingCall } from '../contract/pending-calls.ts'
import type { OnDiagnostic } from '../contract/diagnostics.ts'
import type { JsonObject } from '../jsonrpc/json.ts'
import { memberOf } from '../member.ts'
import {
  acknowledgement,
  filterAdmits,
  grantFilter,
  parseListenFilter,
  type SubscriptionFilter,
} from '../subscriptions.ts'
import type { ClientRequests } from './client-requests.ts'
import { legacyMethod } from './methods.ts'

/** One listen of a caller. */
interface Listen {
  readonly pending: PendingCall
  /** What it will be told of; complete once the server has answered for every resource. */
  granted: SubscriptionFilter
  /** What arrived before the acknowledgement, which comes first (MC-SUB-03). */
  held: Call[] | undefined
}

/** A resource that the server was asked to watch, for as many listens as want it. */
interface Watched {
  listens: number
  /** The server's answer, once it is there. */
  granted: boolean | undefined
  readonly waiting: ((granted: boolean) => void)[]
}

/** More would mean that a server floods a client that is still subscribing. */
const maxHeld = 1_000

/**
 * Listens on a server that has none: list changes come unasked, resources are subscribed one by one and counted over all
 * listens (BR-206, BR-207, BR-231).
 */
export class ClientListens {
  readonly #requests: ClientRequests
  readonly #port: PeerPort
  readonly #onDiagnostic: OnDiagnostic | undefined
  readonly #listens = new Map<PendingCall, Listen>()
  readonly #watched = new Map<string, Watched>()

  constructor(requests: ClientRequests, port: PeerPort, onDiagnostic: OnDiagnostic | undefined) {
    this.#requests = requests
    this.#port = port
    this.#onDiagnostic = onDiagnostic
  }

  /**
   * Opens a listen; it is acknowledged once the server has answered for every resource that it asks for, and with nothing where what a server
   * sends by itself does not arrive.
   */
  open(pending: PendingCall, capabilities: JsonObject): void {
    const wanted = grantFilter(parseListenFilter(pending.call.params), capabilities)
    const hears = this.#port.hearsUnasked?.() ?? true
    // No resource is this listen's before the server was asked for it.
    const { resourceSubscriptions: _later, ...types } = wanted
    const listen: Listen = { pending, granted: types, held: [] }
    this.#listens.set(pending, listen)
    if (typeof hears === 'boolean') {
      this.#begin(listen, hears ? wanted : {})
      return
    }
    void hears.then((does) => {
      if (this.#listens.has(pending)) this.#begin(listen, does ? wanted : {})
    })
  }

  #begin(listen: Listen, granted: SubscriptionFilter): void {
    listen.granted = granted
    const uris = [...new Set(granted.resourceSubscriptions)]
    const refused = new Set<string>()
    let missing = uris.length
    const answered = (uri: string, isGranted: boolean): void => {
      if (!isGranted) refused.add(uri)
      if (--missing === 0) this.#acknowledge(listen, uris, refused)
    }
    if (missing === 0) this.#acknowledge(listen, uris, refused)
    for (const uri of uris) this.#watch(uri, (isGranted) => answered(uri, isGranted))
  }

  /** Ends a listen: the server is told of resources that nobody wants any more. */
  close(pending: PendingCall): void {
    const listen = this.#listens.get(pending)
    if (listen === undefined) return
    this.#listens.delete(pending)
    for (const uri of new Set(listen.granted.resourceSubscriptions)) this.#unwatch(uri)
  }

  /** Hands a change to every listen that asked for it, once each. */
  changed(notice: Call): void {
    const parents = notice.method === noticeName.resourceUpdated ? this.#parents(notice) : []
    for (const listen of this.#listens.values()) {
      if (!filterAdmits(listen.granted, notice, parents)) continue
      if (listen.held === undefined) deliver(listen.pending, notice, this.#onDiagnostic)
      else if (listen.held.length < maxHeld) listen.held.push(notice)
    }
  }

  #acknowledge(listen: Listen, uris: readonly string[], refused: ReadonlySet<string>): void {
    const held = listen.held ?? []
    listen.held = undefined
    if (!this.#listens.has(listen.pending)) return
    const { resourceSubscriptions: _asked, ...types } = listen.granted
    const watched = uris.filter((uri) => !refused.has(uri))
    for (const uri of refused) this.#unwatch(uri)
    listen.granted = watched.length > 0 ? { ...types, resourceSubscriptions: watched } : types
    deliver(listen.pending, acknowledgement(listen.granted), this.#onDiagnostic)
    for (const notice of held) deliver(listen.pending, notice, this.#onDiagnostic)
  }

  #watch(uri: string, answered: (granted: boolean) => void): void {
    const known = this.#watched.get(uri)
    if (known !== undefined) {
      known.listens++
      if (known.granted === undefined) known.waiting.push(answered)
      else answered(known.granted)
      return
    }
    const watched: Watched = { listens: 1, granted: undefined, waiting: [answered] }
    this.#watched.set(uri, watched)
    this.#requests.send(legacyMethod.subscribe, { uri }, (response) => {
      watched.granted = response?.kind === 'result'
      for (const tell of watched.waiting.splice(0)) tell(watched.granted)
    })
  }

  #unwatch(uri: string): void {
    const watched = this.#watched.get(uri)
    if (watched === undefined || --watched.listens > 0) return
    this.#watched.delete(uri)
    if (watched.granted === false) return
    this.#requests.send(legacyMethod.unsubscribe, { uri }, () => {
      // Whether it could is the server's affair: nobody listens here.
    })
  }

  /** Subscribed resources under which a changed one lies that nobody subscribed by its own name. */
  #parents(notice: Call): readonly string[] {
    const uri = memberOf(notice.params, 'uri')
    if (typeof uri !== 'string' || this.#watched.has(uri)) return []
    return [...this.#watched.keys()].filter((parent) => uri.startsWith(parent.endsWith('/') ? parent : `${parent}/`))
  }
}
