import type { CallContext } from '@atenea/mcpcompat'
import { createCallerContext, createScope } from '@atenea/mcpcompat/transport'
import { describe, expect, test } from 'vitest'
import { outcomeOf } from '../test/_util/calls.ts'
import { createCore } from './core.ts'
import { type Session, sessionOf } from './session.ts'

/** A context in a scope of ours, as a serving loop makes one. */
function contextIn(scope = createScope()): CallContext & { scope: typeof scope } {
  const plain = createCallerContext({ peer: { name: 'c', version: '1', capabilities: {} } })
  return Object.create(plain, {
    scope: { value: scope },
    peer: { value: plain.peer },
    principal: { value: plain.principal },
  }) as never
}

describe('an application session', () => {
  test('holds who calls, and what handlers keep', () => {
    const context = contextIn()
    const session = sessionOf(context)
    expect(session.client).toEqual({ name: 'c', version: '1', capabilities: {} })
    expect(session.principal).toEqual({ id: 'local', authenticated: true })
    session.state.set('a', 1)
    expect(sessionOf(context)).toBe(session)
    expect(session.closed).toBe(false)
  })

  test('ends with its scope: disposers run last in first out, then its state is gone', async () => {
    const context = contextIn()
    const session = sessionOf(context)
    const order: unknown[] = []
    session.state.set('a', 1)
    session.defer(() => void order.push('first'))
    session.defer(async () => {
      await Promise.resolve()
      order.push(session.state.get('a'))
    })
    await context.scope.close()
    expect(order).toEqual([1, 'first'])
    expect(session.closed).toBe(true)
    expect(session.state.size).toBe(0)
    session.defer(() => void order.push('late'))
    expect(order).toEqual([1, 'first', 'late'])
  })

  test('of another scope is another one, and a closed scope keeps none', async () => {
    const context = contextIn()
    const other = contextIn()
    expect(sessionOf(other)).not.toBe(sessionOf(context))
    await other.scope.close()
    const late = sessionOf(other)
    expect(late.closed).toBe(true)
    expect(sessionOf(other)).not.toBe(late)
  })

  test('cannot be reached by another handler', async () => {
    const sessions: Session[] = []
    const core = createCore({
      info: { name: 'test', version: '1' },
      tools: [
        {
          name: 'keep',
          handler(_args, { session }) {
            sessions.push(session)
            session.state.set('secret', 1)
          },
        },
        { name: 'look', handler: (_args, { session }) => void sessions.push(session) },
      ],
    })
    await outcomeOf(core, 'tools/call', { name: 'keep' })
    await outcomeOf(core, 'tools/call', { name: 'look' })
    expect(sessions[0]).not.toBe(sessions[1])
    expect(sessions[1]?.state.size).toBe(0)
  })
})
