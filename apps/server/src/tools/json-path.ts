/** Where in a JSON document something is: member names and array positions from its root. */
export type JsonPath = readonly (string | number)[]

const plainName = /^[A-Za-z_$][A-Za-z0-9_$-]*$/
const longestName = 60

/**
 * A path as people write it, such as `record.embed.images[0].size`. Names that would be ambiguous are quoted, and long
 * ones are cut, so that a message stays short whatever was in the document.
 */
export function formatPath(root: string, path: JsonPath): string {
  let text = root
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (!plainName.test(step) || step.length > longestName) text += `[${quote(step)}]`
    else text += text === '' ? step : `.${step}`
  }
  return text
}

/** A string in quotes for use in a message: control characters escaped, well-formed, cut to a bounded length. */
export function quote(text: string): string {
  const cut = text.length > longestName ? `${text.slice(0, longestName)}…` : text
  return JSON.stringify(cut)
}
