import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AnswerBody, type BodySource } from './body.ts'

const source: BodySource = { pause: () => undefined, resume: () => undefined, stop: () => undefined }

const pieces = fc.array(fc.oneof({ weight: 5, arbitrary: fc.nat(3) }, fc.nat(3_000), fc.constant(20_000)), {
  maxLength: 60,
})

/** Gives pieces of so many bytes to a body, from memory that is used again, and the text that they make. */
function feed(body: AnswerBody, sizes: readonly number[]): string {
  const memory = Buffer.alloc(20_000)
  let text = ''
  for (const [index, size] of sizes.entries()) {
    const piece = String.fromCharCode(0x61 + (index % 26)).repeat(size)
    memory.write(piece, 0)
    body.onPiece(memory, 0, size)
    memory.fill('#')
    text += piece
  }
  return text
}

async function iterated(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe('what comes before and after somebody wants a body', () => {
  test('is its text', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, pieces, fc.boolean(), async (before, after, saysLength) => {
        const length = [...before, ...after].reduce((sum, size) => sum + size, 0)
        const body = new AnswerBody(source, saysLength ? length : undefined)
        const early = feed(body, before)
        const text = body.text(2_000_000)
        const late = feed(body, after)
        body.onEnd()
        expect(await text).toBe(early + late)
      }),
    )
  })

  test('is what an iteration gives', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, pieces, fc.boolean(), async (before, after, saysLength) => {
        const length = [...before, ...after].reduce((sum, size) => sum + size, 0)
        const body = new AnswerBody(source, saysLength ? length : undefined)
        const early = feed(body, before)
        const text = iterated(body)
        const late = feed(body, after)
        body.onEnd()
        expect(await text).toBe(early + late)
      }),
    )
  })
})

test('a million pieces of one byte take hardly more memory than a million bytes', async () => {
  const body = new AnswerBody(source, undefined)
  const text = body.text(2_000_000)
  const bytes = Buffer.from('x')
  const before = process.memoryUsage()
  for (let index = 0; index < 1_000_000; index++) body.onPiece(bytes, 0, 1)
  const after = process.memoryUsage()
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(30_000_000)
  body.onEnd()
  expect(await text).toHaveLength(1_000_000)
})
