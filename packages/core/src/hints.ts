import { type CacheHints, noCache } from '@atenea/mcpcompat'
import { cacheHintDefects } from '@atenea/mcpcompat/transport'
import { DefinitionError } from './definition-error.ts'

/** Results that carry cache hints, by what they are about (MC-CACHE-01). */
export type HintedResult = 'discover' | 'tools' | 'prompts' | 'resources' | 'resourceTemplates' | 'read'

/** The hints of each kind of result: those given, none to speak of for the rest. */
export type HintPlan = Readonly<Record<HintedResult, CacheHints>>

export function planHints(given: Partial<HintPlan> = {}): HintPlan {
  for (const [about, hints] of Object.entries(given)) checkHints(hints, `cacheHints.${about}`)
  return {
    discover: given.discover ?? noCache,
    tools: given.tools ?? noCache,
    prompts: given.prompts ?? noCache,
    resources: given.resources ?? noCache,
    resourceTemplates: given.resourceTemplates ?? noCache,
    read: given.read ?? noCache,
  }
}

/** A `DefinitionError` for hints that the protocol does not know (MC-CACHE-03, MC-CACHE-04). */
export function checkHints(hints: CacheHints | undefined, where: string): void {
  if (hints === undefined) return
  const defects = cacheHintDefects({ ...hints })
  if (defects.length > 0) throw new DefinitionError(`${where}: ${defects.join('; ')}`)
}
