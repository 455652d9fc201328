import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HandlerContext } from '@atenea/core'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Atproto } from '../../atproto/atproto.ts'
import { createAtproto } from '../../atproto/create-atproto.ts'
import { appendUpload, beginUpload, finishUpload } from './chunked-upload.ts'

let folder: string
let atproto: Atproto

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'atenea-pieces-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  atproto = createAtproto(
    {
      fileRoots: [],
      // Nothing listens there: what these tests are about comes before anything is sent.
      plcDirectory: 'http://localhost:1',
      allowEndpoints: [],
      nameservers: [],
      dids: [],
      inlineLimitBytes: 1000,
      cacheDir: join(folder, 'cache'),
      cacheMaxBytes: 1_000_000,
      stateDir: folder,
      account: { identifier: 'did:plc:aliceaaaaaaaaaaaaaaaaaaa', password: 'abcd-efgh-ijkl-mnop' },
    },
    () => undefined,
  )
})

function as(id: string): HandlerContext {
  const context: Pick<HandlerContext, 'principal' | 'signal' | 'progress'> = {
    principal: { id, authenticated: true },
    signal: new AbortController().signal,
    progress: () => undefined,
  }
  return context as HandlerContext
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** The message of a rejection. */
async function refusal(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'it was taken',
    (error: unknown) => (error as Error).message,
  )
}

test('another principal is told of an upload what is told of one that never was', async () => {
  const { uploadId } = await beginUpload(atproto, { mimeType: 'text/plain' }, as('alice'))
  const unknown = `${uploadId.slice(0, -1)}${uploadId.endsWith('0') ? '1' : '0'}`
  const piece = { uploadId, offset: 0, data: base64('x') }
  const nothing = await refusal(appendUpload(atproto, { ...piece, uploadId: unknown }, as('alice')))
  expect(nothing).toMatch(/no such workflow/)
  expect(await refusal(appendUpload(atproto, piece, as('bob')))).toBe(nothing)
  expect(await refusal(finishUpload(atproto, uploadId, as('bob')))).toBe(nothing)
  expect(await appendUpload(atproto, piece, as('alice'))).toMatchObject({ received: 1 })
})

test('pieces come in order, each once, and no more than was announced', async () => {
  const { uploadId } = await beginUpload(atproto, { mimeType: 'text/plain', size: 6 }, as('alice'))
  const append = (offset: number, text: string): ReturnType<typeof appendUpload> =>
    appendUpload(atproto, { uploadId, offset, data: base64(text) }, as('alice'))
  expect(await append(0, 'abc')).toMatchObject({ received: 3 })
  expect(await append(0, 'abc')).toMatchObject({ received: 3 })
  expect(await refusal(append(0, 'xyz'))).toMatch(/begins at offset 3/)
  expect(await refusal(append(4, 'x'))).toMatch(/begins at offset 3/)
  expect(await refusal(append(3, ''))).toMatch(/empty/)
  expect(await refusal(append(3, 'defg'))).toMatch(/may have 6 bytes/)
  expect(await refusal(finishUpload(atproto, uploadId, as('alice')))).toMatch(/3 of 6 bytes .* offset 3/)
  expect(await append(3, 'def')).toMatchObject({ received: 6 })
  const [pieces = ''] = readdirSync(join(folder, 'uploads'))
  expect(readdirSync(join(folder, 'uploads', pieces))).toHaveLength(2)
})

test('of two who append different bytes at one place, one is told, and only the other counts', async () => {
  const { uploadId } = await beginUpload(atproto, { mimeType: 'text/plain' }, as('alice'))
  const texts = ['one', 'two', 'six', 'ten']
  const settled = await Promise.allSettled(
    texts.map((text) => appendUpload(atproto, { uploadId, offset: 0, data: base64(text) }, as('alice'))),
  )
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const [pieces = ''] = readdirSync(join(folder, 'uploads'))
  expect(readdirSync(join(folder, 'uploads', pieces))).toHaveLength(1)
})

test('a piece that was kept stays whole when its answer is lost, and the state cannot be asked for either', async () => {
  const { uploadId } = await beginUpload(atproto, { mimeType: 'text/plain' }, as('alice'))
  const piece = { uploadId, offset: 0, data: base64('kept') }
  let loads = 0
  const lossy: Atproto = {
    ...atproto,
    uploads: (principal) => {
      const uploads = atproto.uploads(principal)
      return {
        ...uploads,
        create: uploads.create.bind(uploads),
        complete: uploads.complete.bind(uploads),
        load: async (id, options) => {
          if (loads++ > 0) throw new Error('the disk is away')
          return await uploads.load(id, options)
        },
        update: async (...args) => {
          await uploads.update(...args)
          throw new Error('the answer is lost')
        },
      }
    },
  }
  expect(await refusal(appendUpload(lossy, piece, as('alice')))).toBe('the answer is lost')
  expect(await appendUpload(atproto, piece, as('alice'))).toMatchObject({ received: 4 })
  // read again, and found to be what was appended: the account is only asked for after that
  expect(await refusal(finishUpload(atproto, uploadId, as('alice')))).not.toMatch(/lost or damaged/)
})

test('nothing is sent when the bytes are not those of the CID, or were damaged on the disk', async () => {
  const empty = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'
  const named = await beginUpload(atproto, { mimeType: 'text/plain', cid: empty }, as('alice'))
  await appendUpload(atproto, { uploadId: named.uploadId, offset: 0, data: base64('x') }, as('alice'))
  expect(await refusal(finishUpload(atproto, named.uploadId, as('alice')))).toMatch(/is bafkrei\w+ and not bafkrei/)
  const [pieces = ''] = readdirSync(join(folder, 'uploads'))
  const [piece = ''] = readdirSync(join(folder, 'uploads', pieces))
  writeFileSync(join(folder, 'uploads', pieces, piece), 'y')
  expect(await refusal(finishUpload(atproto, named.uploadId, as('alice')))).toMatch(/lost or damaged/)
})

test('what cannot become an upload is refused at once', async () => {
  expect(await refusal(beginUpload(atproto, { mimeType: 'nonsense' }, as('alice')))).toMatch(/not a MIME type/)
  expect(await refusal(beginUpload(atproto, { mimeType: 'a/b', cid: 'x' }, as('alice')))).toMatch(/unsupported-cid/)
  const { uploadId } = await beginUpload(atproto, { mimeType: 'a/b' }, as('alice'))
  for (const data of ['A', 'A===', 'AA-_', ' AAA']) {
    expect(await refusal(appendUpload(atproto, { uploadId, offset: 0, data }, as('alice'))), data).toMatch(/not base64/)
  }
})
