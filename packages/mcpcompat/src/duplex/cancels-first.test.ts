import { expect, test } from 'vitest'
import type { Inbound } from '../contract/connection.ts'
import { parseMessage } from '../jsonrpc/parse.ts'
import { hasCancel, orderBatch } from './cancels-first.ts'

const inbound = (message: object): Inbound => ({
  message: parseMessage(JSON.stringify({ jsonrpc: '2.0', ...message }), 'parsed'),
  hints: {},
  principal: { id: 'local', authenticated: true },
})
const request = (id: string | number, method = 'tools/call'): Inbound => inbound({ id, method })
const cancel = (requestId?: unknown): Inbound => inbound({ method: 'notifications/cancelled', params: { requestId } })

function ordered(...batch: readonly Inbound[]): { cancels: unknown[]; others: unknown[] } {
  const { cancels, others } = orderBatch(batch)
  return {
    cancels: cancels.map(({ params }) => (params as { requestId?: unknown }).requestId),
    others: others.map(({ message }) => (message.kind === 'request' ? message.id : message.kind)),
  }
}

test('most batches cancel nothing', () => {
  expect(hasCancel([request(1), inbound({ method: 'notifications/initialized' })])).toBe(false)
  expect(hasCancel([request(1), cancel(1)])).toBe(true)
})

test('a request is not started that its own batch cancels; the cancel is kept for one that runs already', () => {
  expect(ordered(request(1), request(2), cancel(1))).toEqual({ cancels: [1], others: [2] })
})

test('a request that follows its cancel is another one', () => {
  expect(ordered(cancel(1), request(1))).toEqual({ cancels: [1], others: [1] })
  expect(ordered(request(1), cancel(1), request(1))).toEqual({ cancels: [1], others: [1] })
})

test('ids are compared with their type', () => {
  expect(ordered(request('1'), cancel(1))).toEqual({ cancels: [1], others: ['1'] })
})

test('LG-CANC-02: a handshake is not taken away', () => {
  expect(ordered(request(1, 'initialize'), cancel(1))).toEqual({ cancels: [1], others: [1] })
})

test('MC-CANC-11: a cancel of nothing takes nothing away', () => {
  expect(ordered(request(1), cancel(), cancel({}))).toEqual({ cancels: [undefined, {}], others: [1] })
})
