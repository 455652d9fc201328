import type { JsonObject } from '@atenea/mcpcompat'
import type { StandardSchemaV1 } from '@standard-schema/spec'

declare const typed: unique symbol

/** A raw JSON Schema, 2020-12 or draft-07. `T` is what TypeScript may take a fitting value for; see `jsonSchema`. */
export type JsonSchema<T = unknown> = JsonObject & { readonly [typed]?: T }

/** A schema of zod, Valibot, ArkType or another library that follows Standard Schema, or a raw JSON Schema. */
export type AnySchema = StandardSchemaV1 | JsonSchema

/** Says what a raw JSON Schema describes, which TypeScript cannot read from it. Nothing happens at run time. */
export function jsonSchema<T>(schema: JsonObject): JsonSchema<T> {
  return schema
}

/** The type of a value after it was checked, defaults filled in and conversions made. */
export type SchemaOutput<S> =
  S extends StandardSchemaV1<unknown, infer Output> ? Output : S extends JsonSchema<infer T> ? RawType<T> : unknown

/** The type of a value that is given to be checked. A raw schema that does not say takes any value here, and checks it. */
export type SchemaInput<S> =
  S extends StandardSchemaV1<infer Input, unknown> ? Input : S extends JsonSchema<infer T> ? T : unknown

type RawType<T> = unknown extends T ? JsonObject : T
