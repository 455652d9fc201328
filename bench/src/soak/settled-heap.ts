import { setTimeout as delay } from 'node:timers/promises'
import { collect } from '../http/standing-streams.ts'
import type { ServerProcess } from '../server-process.ts'
import { demand } from './trial.ts'

/** A heap may be larger afterwards by what code and caches have grown meanwhile. */
const heapSlackBytes = 3e6

/** The heap once all is over. Throws when it stays larger than it was `before`. */
export async function settledHeap(server: ServerProcess, before: number): Promise<number> {
  let heap = await collect(server)
  // connections take a moment to be gone
  for (let left = 20; left > 0 && heap > before + heapSlackBytes; left--) {
    await delay(500)
    heap = await collect(server)
  }
  demand(heap <= before + heapSlackBytes, `memory comes back (${before} before, ${heap} after)`)
  return heap
}
