import { formatPath, type JsonPath } from '../json-path.ts'

/** One fault of a lexicon document. */
export interface Finding {
  /** Where, as `defs.main.record.properties.text`; empty for the document itself. */
  readonly path: string
  readonly message: string
}

export function finding(path: JsonPath, message: string): Finding {
  return { path: formatPath('', path), message }
}
