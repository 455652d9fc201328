/** Completes an argument that is usually one of a few words: those that begin with what was typed, in their order. */
export function words(all: readonly string[]): (request: { readonly value: string }) => readonly string[] {
  return ({ value }) => {
    const typed = value.toLowerCase()
    return all.filter((word) => word.toLowerCase().startsWith(typed))
  }
}
