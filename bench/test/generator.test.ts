import { describe, expect, test } from 'vitest'
import { createGenerator } from '../src/generator.ts'
import { createWire, echoExchange } from '../src/wire.ts'
import { echoAnswer, fakeServer, readEcho } from './fake-server.ts'

const echo = echoExchange(createWire('legacy', 'a-revision'), 100)

function answerRightly(line: string): string {
  const { id, text } = readEcho(line)
  return echoAnswer(id, text)
}

/** Answers rightly, but for the request with this number (from 0), which `wrong` answers. */
function answerWronglyOnce(number: number, wrong: (id: number, text: string) => string): (line: string) => string {
  let seen = 0
  return (line) => {
    if (seen++ !== number) return answerRightly(line)
    const { id, text } = readEcho(line)
    return wrong(id, text)
  }
}

describe.each([1, 64])('a pump with %i in flight', (inFlight) => {
  const options = { count: 1_500, inFlight, deadlineMs: 5_000 }

  test('counts right answers; the first ever is not timed', async () => {
    const generator = createGenerator(fakeServer(answerRightly))
    expect((await generator.pump(echo, options)).calls).toBe(1_499)
    expect((await generator.pump(echo, options)).calls).toBe(1_500)
  })

  test('accepts an answer that means the same in other bytes', async () => {
    const server = fakeServer(
      answerWronglyOnce(
        700,
        (id, text) => `{"result":{"content":[{"text":"${text}","type":"text"}]},"id":${id}, "jsonrpc":"2.0"}\n`,
      ),
    )
    expect((await createGenerator(server).pump(echo, options)).calls).toBe(1_499)
  })

  test.each<[string, (id: number, text: string) => string, RegExp]>([
    ['another text', (id) => echoAnswer(id, `${id} something else`), /wrong answer \(text\)/],
    ['the text of another request', (id, text) => echoAnswer(id, text.replace(/^\d+/, String(id - 1))), /wrong answer/],
    [
      'an id that is not open',
      (id, text) => echoAnswer(id + 5_000, text.replace(/^\d+/, String(id + 5_000))),
      /not open/,
    ],
    ['an error', (id) => `{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":"no"}}\n`, /wrong answer/],
    ['two answers', (id, text) => echoAnswer(id, text) + echoAnswer(id, text), /not open/],
    ['what is no JSON', () => 'Hello!\n', /JSON/],
  ])('fails at %s', async (_, wrong, message) => {
    const generator = createGenerator(fakeServer(answerWronglyOnce(700, wrong)))
    await expect(generator.pump(echo, options)).rejects.toThrow(message)
  })

  test('fails when an answer is missing, at its deadline', async () => {
    const generator = createGenerator(fakeServer(answerWronglyOnce(1_499, () => '')))
    await expect(generator.pump(echo, { ...options, deadlineMs: 200 })).rejects.toThrow('nothing within 200 ms')
  })
})

test('answers may come in pieces of any size', async () => {
  const server = fakeServer(() => '')
  let cut = 0
  server.stdin.removeAllListeners('data').on('data', (text: string) => {
    const answers = Buffer.from(text.trimEnd().split('\n').map(answerRightly).join(''))
    for (let at = 0; at < answers.length; ) {
      cut = (cut % 301) + 1
      server.stdout.emit('data', answers.subarray(at, at + cut))
      at += cut
    }
  })
  const generator = createGenerator(server)
  for (const inFlight of [1, 2, 64]) {
    expect((await generator.pump(echo, { count: 1_000, inFlight, deadlineMs: 5_000 })).calls).toBeGreaterThan(998)
  }
})

test('a slow call may be answered between quick ones', async () => {
  const slowEcho = echoExchange(createWire('legacy', 'a-revision'), 300)
  let held = ''
  const server = fakeServer((line) => {
    const answer = answerRightly(line)
    if (line.length < 300) return answer
    held = answer
    return ''
  })
  const generator = createGenerator(server)
  const slow = generator.start(slowEcho)
  const pumped = generator.pump(echo, { count: 500, inFlight: 8, deadlineMs: 5_000 })
  server.stdout.write(held)
  expect((await pumped).calls).toBe(499)
  expect((await slow.answered).id).toBe(slow.id)
})

test('a server that closes its stdout fails what is open', async () => {
  const server = fakeServer(() => '')
  const generator = createGenerator(server)
  const answer = generator.ask(echo, 5_000)
  server.stdout.push(null)
  await expect(answer).rejects.toThrow('closed its stdout')
})
