/** A JSON Schema as far as it is looked at here. */
interface Shape {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly additionalProperties?: unknown
  readonly items?: unknown
  readonly anyOf?: readonly unknown[]
  readonly oneOf?: readonly unknown[]
  readonly allOf?: readonly unknown[]
}

/** The names that a JSON Schema knows for the members of the object at this path. */
export function keysAt(schema: unknown, path: readonly (string | number)[]): string[] {
  let shapes = alternatives(schema)
  for (const step of path) shapes = shapes.flatMap((shape) => alternatives(below(shape, step)))
  return [...new Set(shapes.flatMap(({ properties = {} }) => Object.keys(properties)))]
}

function below(shape: Shape, step: string | number): unknown {
  if (typeof step === 'number') return shape.items
  const { properties = {}, additionalProperties } = shape
  return Object.hasOwn(properties, step) ? properties[step] : additionalProperties
}

function alternatives(schema: unknown): Shape[] {
  if (typeof schema !== 'object' || schema === null) return []
  const shape: Shape = schema
  const { anyOf = [], oneOf = [], allOf = [] } = shape
  return [shape, ...[...anyOf, ...oneOf, ...allOf].flatMap(alternatives)]
}
