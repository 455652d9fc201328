import { AteneaError } from '@atenea/mcpcompat'

const brand = Symbol.for('atenea.ToolError')

/**
 * A failure of a tool that the model should read, so that it can correct itself or go another way: thrown in a handler, it
 * becomes a result with `isError` and its message as text (MC-TOOL-12). Any other error keeps its text to itself.
 */
export class ToolError extends AteneaError {
  override readonly name: string = 'ToolError'

  static {
    Object.defineProperty(ToolError.prototype, brand, { value: true })
  }

  static override is(value: unknown): value is ToolError {
    return typeof value === 'object' && value !== null && brand in value
  }
}
