import { DefinitionError } from './definition-error.ts'

/** Something that is listed and called by name. */
export interface Registered {
  /** The name, URI or URI template that it is known by. */
  readonly key: string
  /** Its entry in the list, as JSON text made once. */
  readonly json: string
}

/** Where something is looked up by name. */
export interface Finder<T> {
  find(key: string): T | undefined
}

/** All of one kind, in the order in which they were added: the order of lists (MC-TOOL-03). */
export class Registry<T extends Registered> {
  readonly #kind: string
  readonly #items = new Map<string, T>()
  /** Grows with each change; whoever derives something from the items compares it. */
  version = 0

  constructor(kind: string, items: readonly T[]) {
    this.#kind = kind
    for (const item of items) this.add(item)
  }

  get items(): ReadonlyMap<string, T> {
    return this.#items
  }

  /** A `DefinitionError` when there is one of this name already (MC-TOOL-09). */
  add(item: T): void {
    if (this.#items.has(item.key)) {
      throw new DefinitionError(`${this.#kind} "${item.key}" is defined twice; remove one, or give it another name`)
    }
    this.#items.set(item.key, item)
    this.version++
  }

  /** Whether there was one. */
  remove(key: string): boolean {
    const removed = this.#items.delete(key)
    if (removed) this.version++
    return removed
  }
}
