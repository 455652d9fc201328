const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const opening: ReadonlySet<number> = new Set([0x5b, 0x7b])
const closing: ReadonlySet<number> = new Set([0x5d, 0x7d])

/** The source texts of the elements of a JSON array. The text must be valid; it is not checked here. */
export function elementTexts(array: string): readonly string[] {
  const elements: string[] = []
  let start = 0
  let depth = 0
  let isString = false
  for (let index = 0; index < array.length; index++) {
    const code = array.charCodeAt(index)
    if (isString) {
      if (code === backslash) index++
      else isString = code !== quote
    } else if (code === quote) {
      isString = true
    } else if (opening.has(code)) {
      depth++
      if (depth === 1) start = index + 1
    } else if (closing.has(code) || code === comma) {
      if (depth === 1) {
        elements.push(array.slice(start, index).trim())
        start = index + 1
      }
      if (code !== comma) depth--
    }
  }
  // between the brackets of an empty array there is nothing, which is no element
  return elements.length === 1 && elements[0] === '' ? [] : elements
}
