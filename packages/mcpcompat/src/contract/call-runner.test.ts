import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CallHost, ServedContext } from './call-context.ts'
import { CallRunner } from './call-runner.ts'
import type { Outcome } from './call.ts'

interface Step {
  readonly kind: 'run' | 'answer' | 'cancel'
  readonly id: number
  /** Which of the open calls. */
  readonly index: number
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('run', 'run', 'answer', 'cancel'),
  id: fc.nat(2),
  index: fc.nat(50),
})

test.each([{ manyPeers: false }, { manyPeers: true }])(
  'A-21: calls with the same id are answered and cancelled each by itself, $manyPeers',
  async ({ manyPeers }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const runner = new CallRunner({ maxInFlight: 1_000, manyPeers })
        const open: { readonly context: ServedContext; readonly resolve: (outcome: Outcome) => void }[] = []
        const answered: ServedContext[] = []
        const expected: ServedContext[] = []
        let resolve: (outcome: Outcome) => void
        const host: CallHost = {
          dispatcher: { call: () => new Promise((settle) => (resolve = settle)) },
          notify: () => undefined,
          answer: (context) => void answered.push(context),
          refuse: () => undefined,
        }
        for (const { kind, id, index } of steps) {
          if (kind === 'run') {
            const facts = {
              peer: {},
              rawMeta: undefined,
              progressToken: undefined,
              logLevel: undefined,
              resume: undefined,
            }
            const decoded = { call: { method: 'x', params: {} }, context: facts }
            const principal = { id: 'p', authenticated: false }
            const context = new ServedContext(host, id, decoded as never, principal, {}, undefined)
            runner.run(context)
            open.push({ context, resolve: resolve! })
          } else if (open.length > 0) {
            const [taken] = open.splice(index % open.length, 1)
            if (kind === 'cancel') runner.cancel(taken!.context, new Error('gone'))
            else {
              expected.push(taken!.context)
              taken!.resolve({ kind: 'result', value: {} })
              await new Promise((settle) => setImmediate(settle))
            }
          }
          expect(runner.openCalls).toEqual(open.map(({ context }) => context))
        }
        expect(answered).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  },
)
