import type { Answer } from '../wire.ts'

/** The answer in a body: the JSON itself, or of an event stream the event that answers the request. */
export function answerOf(body: Buffer): Answer {
  const text = body.toString('utf8')
  if (text.startsWith('{')) return JSON.parse(text) as Answer
  for (const event of text.split('\n\n').reverse()) {
    const data = event
      .split('\n')
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5).trimStart())
      .join('\n')
    if (data === '') continue
    const message = JSON.parse(data) as Answer
    if (message.method === undefined) return message
  }
  throw new Error(`a response without an answer: ${text.slice(0, 500)}`)
}
