import { UsageError } from '@atenea/cli'
import { fileUriOf, type Root, rootFault } from '@atenea/mcpcompat'
import { resolve } from 'node:path'

type GivenRoot = string | { readonly uri: string; readonly name?: string | undefined }

/** Roots as people write them: paths, of either kind of system and relative to a folder, or `file://` URIs. Throws a `UsageError`. */
export function readRoots(
  roots: readonly GivenRoot[],
  folder: string,
  place: (index: number) => string,
): readonly Root[] {
  return roots.map((root, index) => {
    const { uri: given, name } = typeof root === 'string' ? { uri: root } : root
    const uri = typeof root === 'string' ? uriOf(root, folder) : given
    const fault = uri === undefined ? 'is no path' : rootFault(uri)
    if (uri === undefined || fault !== undefined) {
      throw new UsageError(`${place(index)} must be a path or a file:// URI: ${JSON.stringify(given)} ${fault}`)
    }
    return name === undefined ? { uri } : { uri, name }
  })
}

/** A server may be on another machine, so a path of Windows is one everywhere. */
function uriOf(text: string, folder: string): string | undefined {
  if (/^[a-z]:[\\/]|^\\\\/i.test(text)) return fileUriOf(text)
  return /^[a-z][a-z\d+.-]*:/i.test(text) ? text : fileUriOf(resolve(folder, text))
}
