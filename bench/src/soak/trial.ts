/** One line of the soak: something that is imposed on a program of ours, and what became of it. */
export interface Trial {
  readonly name: string
  readonly title: string
  /** Throws when a promise is broken. `scale` is 1 for a full soak. */
  run(scale: number): Promise<Endurance>
}

/** What a trial did to a program. */
export interface Endurance {
  readonly what: string
  readonly seconds: number
  /** Somebody else who was served meanwhile, one call at a time, and the longest that one took; where there was somebody. */
  readonly bystander?: { readonly calls: number; readonly slowestMs: number }
  /** Bytes that are left after all garbage was collected. */
  readonly heapBefore: number
  readonly heapAfter: number
  readonly peakResident: number
}

/** Throws when a promise of the soak is broken. */
export function demand(holds: boolean, promise: string): void {
  if (!holds) throw new Error(`broken promise: ${promise}`)
}
