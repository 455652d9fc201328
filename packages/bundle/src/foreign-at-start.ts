import type { Metafile } from 'esbuild'

/** Files of other packages that are part of what starts with a bundle: of its main file and of all that this imports at once. */
export function foreignAtStart({ outputs }: Pick<Metafile, 'outputs'>, main: string): readonly string[] {
  const seen = new Set<string>()
  const read = (path: string): void => {
    const output = outputs[path]
    if (output === undefined || seen.has(path)) return
    seen.add(path)
    for (const { path: imported, kind } of output.imports) if (kind === 'import-statement') read(imported)
  }
  read(main)
  if (seen.size === 0) throw new TypeError(`there is no ${main} among what was bundled`)
  const inputs = [...seen].flatMap((path) => Object.entries(outputs[path]?.inputs ?? {}))
  return inputs.flatMap(([input, { bytesInOutput }]) =>
    bytesInOutput > 0 && /(?:^|\/)node_modules\//.test(input) ? [input] : [],
  )
}
