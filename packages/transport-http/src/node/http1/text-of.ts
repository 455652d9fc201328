/** The text of bytes in UTF-8, without the mark that some put at its beginning. */
export function textOf(bytes: Buffer, from: number, to: number): string {
  const hasMark = to - from >= 3 && bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf
  return bytes.toString('utf8', hasMark ? from + 3 : from, to)
}
