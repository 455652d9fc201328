/** Digits of a request id. All ids of the bench have as many, so that a template can be patched in place. */
const idDigits = 8

/** The id that stands in the text of templates. */
export const firstId: number = 10 ** (idDigits - 1)

/** Bytes with holes for an id: wherever the digits of `firstId` stood, those of another id can be put. */
export interface ByteTemplate {
  readonly bytes: Buffer
  /** Where the ids begin, rising. */
  readonly holes: readonly number[]
}

/** Makes a template of a line in which `id` stands at least once. The bytes are a copy. */
export function createByteTemplate(line: string | Buffer, id: number): ByteTemplate {
  const bytes = Buffer.from(line as string)
  const digits = Buffer.from(String(id))
  const holes: number[] = []
  for (let at = bytes.indexOf(digits); at >= 0; at = bytes.indexOf(digits, at + idDigits)) holes.push(at)
  if (holes.length === 0) throw new Error(`no ${id} in ${bytes.toString('utf8', 0, 200)}`)
  return { bytes, holes }
}

/** Writes the digits of `id` into all holes of a template that begins at `offset` of `target`. */
export function patchId(target: Buffer, offset: number, holes: readonly number[], id: number): void {
  for (const hole of holes) {
    let rest = id
    for (let at = offset + hole + idDigits - 1; at >= offset + hole; at--) {
      const tens = (rest / 10) | 0
      target[at] = 48 + rest - tens * 10
      rest = tens
    }
  }
}

/**
 * The id of a line that equals the template but for its holes, which must all hold the same digits; -1 when it differs.
 * `line` must have as many bytes from `offset` on as the template.
 */
export function matchTemplate(template: ByteTemplate, line: Buffer, offset: number): number {
  const { bytes, holes } = template
  let id = -1
  let at = 0
  for (const hole of holes) {
    for (; at < hole; at++) if (line[offset + at] !== bytes[at]) return -1
    let value = 0
    for (const end = hole + idDigits; at < end; at++) {
      const digit = (line[offset + at] as number) - 48
      if (digit < 0 || digit > 9) return -1
      value = value * 10 + digit
    }
    if (id >= 0 && id !== value) return -1
    id = value
  }
  for (; at < bytes.length; at++) if (line[offset + at] !== bytes[at]) return -1
  return id
}
