import type { Diagnostic } from '../../src/contract/diagnostics.ts'
import { serveConnection, type ServeConnectionOptions } from '../../src/duplex/serve.ts'
import type { JsonObject } from '../../src/jsonrpc/json.ts'
import { createRevisionPolicy } from '../../src/revisions.ts'
import { createRawPeer, type RawPeer } from './raw-peer.ts'
import { initialize, notification } from './requests.ts'
import { createScriptedDispatcher, type ScriptedDispatcher } from './scripted-dispatcher.ts'

/** A scripted dispatcher, served to a peer in raw lines. */
export interface Served extends RawPeer {
  readonly dispatcher: ScriptedDispatcher
  readonly diagnostics: Diagnostic[]
  readonly done: Promise<void>
}

const open: Served[] = []

export function serve(
  dispatcher = createScriptedDispatcher(),
  options: Partial<ServeConnectionOptions> & { readonly payload?: 'parsed' | 'text' } = {},
): Served {
  const peer = createRawPeer(undefined, options.payload)
  const diagnostics: Diagnostic[] = []
  const done = serveConnection(peer.connection, dispatcher, {
    policy: createRevisionPolicy(),
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    ...options,
  })
  const served = Object.assign(peer, { dispatcher, diagnostics, done })
  open.push(served)
  return served
}

/** The same, with the handshake behind it. */
export async function serveLegacy(
  dispatcher = createScriptedDispatcher(),
  capabilities: JsonObject = {},
  options: Partial<ServeConnectionOptions> & { readonly revision?: string } = {},
): Promise<Served> {
  const peer = serve(dispatcher, options)
  peer.write(initialize('init', capabilities, options.revision), notification('notifications/initialized'))
  await peer.read()
  return peer
}

/** Breaks what tests left open and waits for its end. For `afterEach`. */
export async function endAll(): Promise<void> {
  for (const served of open.splice(0)) {
    if (!served.closed) served.break()
    await served.done
  }
}

export function codes(served: Served): string[] {
  return served.diagnostics.map(({ code }) => code)
}

export function lastCall(served: Served): ScriptedDispatcher['calls'][number] {
  const last = served.dispatcher.calls.at(-1)
  if (last === undefined) throw new Error('no call came')
  return last
}
