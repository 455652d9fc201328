import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { big, bigDigits, failure, note, table } from '../../fixtures/servers/_matrix.ts'
import { until } from '../_util/processes.ts'
import type { Cell } from './cells.ts'
import type { MatrixClient, ToolAnswer } from './clients.ts'

/** `works`, or why there is nothing to look at in a cell. */
export type Mark = 'works' | { readonly notApplicable: string }

export interface Check {
  /** Heads a column of the table. */
  readonly name: string
  readonly shows: string
  /** Throws when it does not work. */
  run(client: MatrixClient, cell: Cell): Promise<Mark>
}

/** One after the other in each cell: some build on those before. */
export const checks: readonly Check[] = [
  {
    name: 'list',
    shows: 'all tools of the server are listed',
    async run(client) {
      const own = ['echo', 'region', 'steps', 'wait', 'waits', 'touch', 'grow', 'table', 'big']
      expect(await client.tools()).toEqual(own)
      return 'works'
    },
  },
  {
    name: 'call',
    shows:
      'a call is answered with what was sent: characters of all kinds, 20 calls at the same time, 200 000 characters in one',
    async run(client) {
      const texts = ['Grüße 👋 \u2028 読', ...Array.from({ length: 20 }, (_, n) => `n${n}`)]
      const answers = await Promise.all(texts.map(async (text) => await client.call('echo', { text })))
      expect(answers.map(textOf)).toEqual(texts)
      const long = 'x'.repeat(200_000)
      expect(textOf(await client.call('echo', { text: long }))).toBe(long)
      return 'works'
    },
  },
  {
    name: 'header tool',
    shows:
      'a tool with `x-mcp-header` is called: on each hop that is a modern one on HTTP the argument is mirrored into `Mcp-Param-Region`, encoded, and on no other',
    async run(client, { client: asks, front, back, server }) {
      const region = 'Zürich'
      const mirrored = `=?base64?${Buffer.from(region).toString('base64')}?=`
      const inFront = asks.endsWith('modern') && front === 'HTTP'
      const behind = server.endsWith('modern') && back === 'HTTP'
      const answer = await client.call('region', { region })
      expect(JSON.parse(textOf(answer))).toEqual([region, behind ? mirrored : null])
      const sent = client.recording.headers.map((headers) => headers.get('mcp-param-region')).filter(Boolean)
      expect(sent).toEqual(inFront ? [mirrored] : [])
      return inFront || behind
        ? 'works'
        : { notApplicable: 'the call works, but neither hop is a modern one on HTTP, so none has such headers' }
    },
  },
  {
    name: 'progress',
    shows:
      'progress comes in order, with total and message, all of it before the answer; looked at in the text, since the SDKs do not tell of what comes together with an answer',
    async run(client) {
      const seen: unknown[] = []
      const answer = await client.call('steps', {}, { onprogress: (progress) => void seen.push(progress) })
      expect(textOf(answer)).toBe('stepped')
      const steps = [1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` }))
      expect(client.recording.about('steps')).toEqual({ progress: steps, answers: 1, inOrder: true })
      // What comes together with the answer the SDKs do not tell of (sdk-progress.test.ts), which may be all of it on a slow machine.
      expect(seen).toEqual(steps.slice(0, seen.length))
      return 'works'
    },
  },
  {
    name: 'cancel',
    shows: 'the signal of the handler in the server fires, and no answer comes',
    async run(client) {
      const waits = async (): Promise<unknown> => JSON.parse(textOf(await client.call('waits')))
      const away = new AbortController()
      const call = client.call('wait', {}, { signal: away.signal })
      const ended = call.then(
        () => 'an answer',
        (reason: unknown) => String(reason),
      )
      while (JSON.stringify(await waits()) !== '{"begun":1,"aborted":0}') await sleep(20)
      away.abort('enough')
      expect(await ended).toMatch(/enough|abort/i)
      while (JSON.stringify(await waits()) !== '{"begun":1,"aborted":1}') await sleep(20)
      await sleep(100)
      expect(client.recording.about('waits').answers).toBe(1)
      expect(client.recording.about('wait').answers).toBe(0)
      return 'works'
    },
  },
  {
    name: 'read',
    shows: 'a resource is read',
    async run(client) {
      expect(await client.read(note)).toEqual([{ uri: note, text: 'note 0' }])
      return 'works'
    },
  },
  {
    name: 'subscribe',
    shows:
      'the server agrees to tell of changes of a resource: `resources/subscribe` is answered, or the acknowledgement names it',
    async run(client) {
      await client.subscribe(note)
      return 'works'
    },
  },
  {
    name: 'list change',
    shows: 'a new tool of the server is told once, and is then listed',
    async run(client) {
      expect(client.changes()).toBe(0)
      await client.call('grow', { name: 'grown' })
      await until(() => client.changes() > 0, 10_000)
      expect(await client.tools()).toContain('grown')
      expect(client.changes()).toBe(1)
      return 'works'
    },
  },
  {
    name: 'update',
    shows: 'a change of that resource is told once, and is then read',
    async run(client) {
      expect(client.updated).toEqual([])
      await client.call('touch')
      await until(() => client.updated.length > 0, 10_000)
      expect(await client.read(note)).toEqual([{ uri: note, text: 'note 1' }])
      expect(client.updated).toEqual([note])
      return 'works'
    },
  },
  {
    name: 'error data',
    shows: 'code, message and `data` of an error of the server arrive',
    async run(client) {
      const error: unknown = await client.prompt('fails').catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: failure.code, data: failure.data })
      const [sent = ''] = /"error":\{[^}]*\}/.exec(client.recording.received) ?? []
      expect(sent).toContain(`"message":${JSON.stringify(failure.message)}`)
      return 'works'
    },
  },
  {
    name: 'structured content',
    shows: '`structuredContent` arrives with members that the schema does not name',
    async run(client) {
      const answer = await client.call('table')
      expect(answer.structuredContent).toEqual(table)
      expect(JSON.parse(textOf(answer))).toEqual(table)
      return 'works'
    },
  },
  {
    name: 'big integers',
    shows: `${bigDigits} arrives with these digits, as an argument and in a result; looked at in the text, since the SDKs parse it`,
    async run(client) {
      const answer = await client.call('big', { value: big })
      expect(textOf(answer)).toBe(bigDigits)
      expect(client.recording.received).toContain(`"example.com/big":${bigDigits}`)
      return 'works'
    },
  },
]

function textOf({ content }: ToolAnswer): string {
  return (content as readonly { readonly text: string }[])[0]?.text ?? ''
}
