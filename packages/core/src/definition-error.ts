import { AteneaError } from '@atenea/mcpcompat'

const brand = Symbol.for('atenea.DefinitionError')

/**
 * A tool, prompt, resource or option that cannot be served as it is written. Thrown when it is registered, never for what a
 * client sends; the message names the part and says what to do.
 */
export class DefinitionError extends AteneaError {
  override readonly name: string = 'DefinitionError'

  static {
    Object.defineProperty(DefinitionError.prototype, brand, { value: true })
  }

  static override is(value: unknown): value is DefinitionError {
    return typeof value === 'object' && value !== null && brand in value
  }
}
