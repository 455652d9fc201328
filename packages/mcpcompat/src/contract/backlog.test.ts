import { expect, test } from 'vitest'
import { createScriptedDispatcher, deferred, text } from '../../test/_util/scripted-dispatcher.ts'
import { createServerSession } from '../rev-2025-06-18/session.ts'
import { createRevisionPolicy, legacyRevision } from '../revisions.ts'
import { Backlog } from './backlog.ts'

test('is full with 4 Mi characters that wait, and empties as they are taken', async () => {
  const backlog = new Backlog()
  const slow = deferred<void>()
  const adding = [0, 1].map(() => backlog.add({ data: 'x'.repeat(2 * 1024 * 1024) }, slow.promise))
  expect(backlog.isFull).toBe(true)
  slow.resolve()
  await Promise.all(adding)
  expect(backlog.isFull).toBe(false)
})

test('what is refused does not wait any more, and is told', async () => {
  const backlog = new Backlog()
  const refused = new Error('gone')
  await expect(backlog.add({ data: 'x'.repeat(5 * 1024 * 1024) }, Promise.reject(refused))).rejects.toBe(refused)
  expect(backlog.isFull).toBe(false)
})

test('D16: a legacy client that does not read is told only so much by the way', async () => {
  const slow = deferred<void>()
  let told = 0
  const dispatcher = createScriptedDispatcher()
  dispatcher.on('tool:a', (_params, context) => {
    const notice = { method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(1024 * 1024) } }
    for (let count = 0; count < 20; count++) context.session?.tell(notice)
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
