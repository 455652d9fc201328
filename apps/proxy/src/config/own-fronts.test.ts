import type { FrontSettings } from '@atenea/fronts'
import { expect, test } from 'vitest'
import type { BackendSetting } from '../settings.ts'
import { refuseOwnFronts } from './own-fronts.ts'

const url = (text: string): BackendSetting['target'] => ({ kind: 'http', url: text, headers: {} })
const socket = (path: string): BackendSetting['target'] => ({ kind: 'socket', path })

function refused(target: BackendSetting['target'], host: string): string | undefined {
  const fronts = { http: [{ host, port: 8080 }], sockets: ['/run/proxy.sock'] } as unknown as FrontSettings
  const backend = { name: 'self', target } as BackendSetting
  try {
    refuseOwnFronts([{ name: 'other', target: url('https://example.com/mcp') } as BackendSetting, backend], fronts)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

test.each([
  ['127.0.0.1', url('http://127.0.0.1:8080/mcp')],
  ['127.0.0.1', url('http://localhost:8080/mcp/')],
  ['localhost', url('http://127.0.0.1:8080/mcp')],
  ['0.0.0.0', url('http://127.0.0.1:8080/mcp?x=1')],
  ['::', url('http://[::1]:8080/mcp')],
  ['::1', url('http://LOCALHOST:8080/mcp')],
  ['10.0.0.1', url('http://10.0.0.1:8080/mcp')],
  ['127.0.0.1', socket('/run/../run/proxy.sock')],
])('listening on %s, a server at its own address is refused (%o)', (host, target) => {
  expect(refused(target, host)).toBe(
    'the server "self" is this proxy itself, at one of its own fronts; set "disabled": true for that entry, or name the others with --server',
  )
})

test.each([
  ['127.0.0.1', url('http://127.0.0.1:8081/mcp')],
  ['127.0.0.1', url('http://[::1]:8080/mcp')],
  ['127.0.0.1', url('http://127.0.0.2:8080/mcp')],
  ['127.0.0.1', url('https://127.0.0.1:8080/mcp')],
  ['127.0.0.1', url('http://127.0.0.1:8080/other')],
  ['0.0.0.0', url('http://10.0.0.1.example:8080/mcp')],
  ['127.0.0.1', socket('/run/other.sock')],
])('listening on %s, a server elsewhere is taken (%o)', (host, target) => {
  expect(refused(target, host)).toBeUndefined()
})
