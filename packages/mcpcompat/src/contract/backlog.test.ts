import { expect, test } from 'vitest'
import { createScriptedDispatcher, deferred, text } from '../../test/_util/scripted-dispatcher.ts'
import { createServerSession } from '../rev-2025-06-18/session.ts'
import { createRevisionPolicy, legacyRevision } from '../revisions.ts'
import { Backlog } from './backlog.ts'
import type { Call } from './call.ts'

/** A log message of so many Mi characters. */
function log(size: number): Call {
  return { method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(size * 1024 * 1024) } }
}

test('holds a change until it is taken, and no other', async () => {
  const backlog = new Backlog()
  const slow = deferred<void>()
  const updated = (uri: string): Call => ({ method: 'notifications/resources/updated', params: { uri } })
  const toolsChanged = { method: 'notifications/tools/list_changed', params: {} }
  const adding = [updated('a:1'), toolsChanged].map((notice) => backlog.add(notice, slow.promise))
  expect([updated('a:1'), updated('a:2'), toolsChanged, log(0)].map((notice) => backlog.holds(notice))).toEqual([
    true,
    false,
    true,
    false,
  ])
  slow.resolve()
  await Promise.all(adding)
  expect([updated('a:1'), toolsChanged].map((notice) => backlog.holds(notice))).toEqual([false, false])
})

test('is full with 4 Mi characters that wait, and empties as they are taken', async () => {
  const backlog = new Backlog()
  const slow = deferred<void>()
  const adding = [0, 1].map(() => backlog.add(log(2), slow.promise))
  expect(backlog.isFull).toBe(true)
  slow.resolve()
  await Promise.all(adding)
  expect(backlog.isFull).toBe(false)
})

test('what is refused does not wait any more, and is told', async () => {
  const backlog = new Backlog()
  const refused = new Error('gone')
  await expect(backlog.add(log(5), Promise.reject(refused))).rejects.toBe(refused)
  expect(backlog.isFull).toBe(false)
})

test('D16: a legacy client that does not read is told only so much by the way', async () => {
  const slow = deferred<void>()
  let told = 0
  const dispatcher = createScriptedDispatcher()
  dispatcher.on('tool:a', (_params, context) => {
    for (let count = 0; count < 20; count++) context.session?.tell(log(1))
    return text('done')
  })
  const send = ({ kind }: { readonly kind: string }): Promise<void> | undefined => {
    if (kind !== 'notification') return undefined
    told++
    return slow.promise
  }
  const session = createServerSession(dispatcher, { send }, { policy: createRevisionPolicy() })
  const origin = { principal: { id: 'local', authenticated: true }, hints: {} }
  const params = { protocolVersion: legacyRevision, capabilities: {}, clientInfo: { name: 'a', version: '1' } }
  session.receive({ kind: 'request', id: 1, method: 'initialize', params }, origin)
  session.receive({ kind: 'notification', method: 'notifications/initialized', params: undefined }, origin)
  session.receive({ kind: 'request', id: 2, method: 'tools/call', params: { name: 'a' } }, origin)
  await expect.poll(() => told).toBe(4)
  await session.close(new Error('over'))
})
