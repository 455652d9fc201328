import type { JsonObject } from '@atenea/mcpcompat'
import { annotationsFault, iconFault } from '@atenea/mcpcompat/transport'
import type { ContentAnnotations, Icon } from './content.ts'
import { DefinitionError } from './definition-error.ts'

/** What tools, prompts and resources have in common. */
interface Definition {
  readonly timeoutMs?: number | undefined
  readonly icons?: readonly Icon[] | undefined
}

/**
 * Looks at the members that every definition may have: a limit of time that would act in surprising ways, and icons that clients
 * must refuse (MC-ICON-02, MC-ICON-04).
 */
export function checkDefinition({ timeoutMs, icons }: Definition, where: string): void {
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    throw new DefinitionError(`${where}: timeoutMs must be a number above 0, not ${timeoutMs}`)
  }
  for (const icon of icons ?? []) {
    const fault = iconFault(icon as unknown as JsonObject)
    if (fault !== undefined) throw new DefinitionError(`${where}: an icon ${fault}`)
  }
}

/** Annotations of a resource or template (MC-RES-13). */
export function checkAnnotations(annotations: ContentAnnotations | undefined, where: string): void {
  if (annotations === undefined) return
  const fault = annotationsFault(annotations as JsonObject)
  if (fault !== undefined) throw new DefinitionError(`${where}: annotations ${fault}`)
}
