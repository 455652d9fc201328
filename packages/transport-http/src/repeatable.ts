import { method } from '@atenea/mcpcompat'

/** Methods that change nothing, so that a server may get them twice. Everything else may have side effects (field report F11). */
const repeatable: ReadonlySet<string> = new Set([
  method.discover,
  method.listTools,
  method.listPrompts,
  method.listResources,
  method.listResourceTemplates,
  method.readResource,
  method.getPrompt,
  method.complete,
  method.listen,
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
])

/** Whether a request of this method may be sent again when its first attempt came to nothing. */
export function isRepeatable(name: string): boolean {
  return repeatable.has(name)
}
