import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCore, createWorkflows } from '@atenea/core'
import { createSqliteStore } from '@atenea/core/sqlite'
import { toValue } from '@atenea/mcpcompat'
import { createCallerContext } from '@atenea/mcpcompat/transport'

// a tool without types, called without a carrier
const core = createCore({
  info: { name: 'plain', version: '1.0.0' },
  tools: [{ name: 'echo', handler: (args) => JSON.stringify(args) }],
})
const call = { method: 'tools/call', params: { name: 'echo', arguments: { a: 1 } } }
const outcome = await core.call(call, createCallerContext())
const { text } = toValue(outcome.value).content[0]
if (text !== '{"a":1}') throw new Error(text)

// the SQLite store needs a newer Node than the rest, and says so on an older one
const [major, minor] = process.versions.node.split('.').map(Number)
const folder = mkdtempSync(join(tmpdir(), 'usage-'))
try {
  const store = await createSqliteStore(join(folder, 'workflows.db'))
  const workflows = createWorkflows({ store }).of({ id: 'me', authenticated: true }, 'demo')
  const { id } = await workflows.create({ step: 1 })
  if ((await workflows.load(id)).state.step !== 1) throw new Error('lost')
  await store[Symbol.asyncDispose]()
} catch (error) {
  const tooOld = major < 22 || (major === 22 && minor < 13)
  if (!tooOld || !/22\.13/.test(error.message)) throw error
} finally {
  rmSync(folder, { recursive: true })
}
console.log('ok')
