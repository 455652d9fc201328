import { TransportError } from '../jsonrpc/errors.ts'
import type { Json } from '../jsonrpc/json.ts'

const brand = Symbol.for('atenea.InvalidResultError')

/**
 * A peer answered with something that is no result of the method (MC-RT-04). Nothing of it may be used; `raw` is the whole
 * answer, for local reports only.
 */
export class InvalidResultError extends TransportError {
  override readonly name: string = 'InvalidResultError'
  readonly raw: Json | undefined

  static {
    Object.defineProperty(InvalidResultError.prototype, brand, { value: true })
  }

  static override is(value: unknown): value is InvalidResultError {
    return typeof value === 'object' && value !== null && brand in value
  }

  constructor(message: string, raw: Json | undefined) {
    super('protocol', message)
    this.raw = raw
  }
}
