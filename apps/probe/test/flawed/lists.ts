/** What the fixture server lists, and what a flaw does to it. */

type Entry = Readonly<Record<string, unknown>>

const objectSchema = {
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'integer' } },
  required: ['a', 'b'],
}

const add: Entry = {
  name: 'add',
  title: 'Add',
  description: 'Adds two integers.',
  inputSchema: {
    type: 'object',
    properties: {
      a: { $ref: '#/$defs/number' },
      b: { $ref: '#/$defs/number' },
      region: { type: 'string', 'x-mcp-header': 'Region' },
    },
    required: ['a', 'b'],
    $defs: { number: { type: 'integer', minimum: 0 } },
  },
  outputSchema: objectSchema,
  annotations: { readOnlyHint: true, idempotentHint: true },
  icons: [{ src: 'https://example.com/add.png', mimeType: 'image/png', sizes: ['48x48'] }],
}

const tools: readonly Entry[] = [
  add,
  { name: 'sub', description: 'Subtracts.', inputSchema: objectSchema },
  { name: 'mul', description: 'Multiplies.', inputSchema: { type: 'object' } },
]

const withSchema = (change: Entry): readonly Entry[] => [
  { ...add, inputSchema: { type: 'object', ...change } },
  ...tools.slice(1),
]
const withFirst = (change: Entry): readonly Entry[] => [{ ...add, ...change }, ...tools.slice(1)]

const flawedTools: Readonly<Record<string, readonly unknown[]>> = {
  'tool-malformed': [...tools, 'div'],
  'tool-name': withFirst({ name: 'add numbers!' }),
  'tool-duplicate': [...tools, { ...tools[1], description: 'Subtracts again.' }],
  'tool-description': withFirst({ description: ' ' }),
  'tool-input-schema': withFirst({ inputSchema: null }),
  'tool-output-schema': withFirst({ outputSchema: 'a number' }),
  'tool-annotations': withFirst({ annotations: { readOnlyHint: 'yes' } }),
  'tool-hints-contradict': withFirst({ annotations: { readOnlyHint: true, destructiveHint: true } }),
  'schema-invalid': withSchema({ properties: { a: { type: 'int' } } }),
  'schema-dialect': withSchema({ $schema: 'https://example.com/my-dialect' }),
  'schema-ref-network': withSchema({ properties: { a: { $ref: 'https://example.com/number.json' } } }),
  'schema-ref-dangling': withSchema({ properties: { a: { $ref: '#/$defs/none' } } }),
  'param-header': withSchema({ properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }),
  'param-header-sensitive': withSchema({ properties: { password: { type: 'string', 'x-mcp-header': 'P' } } }),
  icon: withFirst({ icons: [{ src: 'javascript:alert(1)' }] }),
}

const prompt: Entry = { name: 'ask', description: 'Asks.', arguments: [{ name: 'topic', required: true }] }
const flawedPrompts: Readonly<Record<string, readonly unknown[]>> = {
  'prompt-malformed': [{ ...prompt, arguments: { topic: 'string' } }],
  'prompt-duplicate': [prompt, prompt],
}

const resource: Entry = {
  uri: 'note:///one',
  name: 'one',
  annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' },
}
const flawedResources: Readonly<Record<string, readonly unknown[]>> = {
  'resource-malformed': [{ ...resource, uri: 'no uri' }],
  'resource-duplicate': [resource, resource],
  annotations: [{ ...resource, annotations: { priority: 7 } }],
}

const template: Entry = { uriTemplate: 'note:///{id}', name: 'note' }
const flawedTemplates: Readonly<Record<string, readonly unknown[]>> = {
  'template-malformed': [{ ...template, uriTemplate: 'note:///{id' }],
}

/** Entries by list method, for a server with this flaw. */
export function entriesOf(method: string, flaw: string): readonly unknown[] {
  switch (method) {
    case 'tools/list':
      return flawedTools[flaw] ?? tools
    case 'prompts/list':
      return flawedPrompts[flaw] ?? [prompt]
    case 'resources/list':
      return flawedResources[flaw] ?? [resource]
    default:
      return flawedTemplates[flaw] ?? [template]
  }
}
