/**
 * A process that works on a store file, to be killed or raced by the test that starts it. Prints one line for each thing that
 * the store has acknowledged. Arguments: the file, what to do, and what for.
 */
import { writeSync } from 'node:fs'
import { createSqliteStore } from '../../src/sqlite.ts'
import { createWorkflows } from '../../src/workflows/workflows.ts'
import { type Counter, nextCounter } from './counter.ts'

const [, , path = '', action = '', argument = ''] = process.argv
const store = createSqliteStore(path, { onDiagnostic: ({ code }) => writeSync(1, `${code}\n`) })
const workflows = createWorkflows({ store }).of({ id: 'local', authenticated: true }, 'count')

switch (action) {
  case 'create': {
    // The argument is a time, so that several processes begin in the same moment.
    while (Date.now() < Number(argument)) await new Promise((resolve) => setImmediate(resolve))
    const { id } = await workflows.create(argument)
    writeSync(1, `${id}\n`)
    break
  }
  case 'count': {
    const times = 100
    for (let time = 0; time < times; time++) await workflows.modify(argument, (state) => nextCounter(state as Counter))
    break
  }
  case 'count-for-ever':
    for (;;) {
      const { state } = await workflows.modify(argument, (seen) => nextCounter(seen as Counter))
      writeSync(1, `${(state as Counter).count}\n`)
    }
}
await store[Symbol.asyncDispose]()
