import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configJsonSchema } from './json-schema.ts'

test('config.schema.json is current; write it again with: pnpm config-schema', () => {
  const published: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '../../config.schema.json'), 'utf8'))
  expect(published).toEqual(configJsonSchema())
})
