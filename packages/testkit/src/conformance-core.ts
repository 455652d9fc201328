import {
  type Core,
  ToolError,
  ask,
  createCore,
  createMessage,
  definePrompt,
  defineResource,
  defineResourceTemplate,
  defineTool,
  elicitForm,
  jsonSchema,
  listRoots,
  optional,
} from '@atenea/core'
import type { JsonObject } from '@atenea/mcpcompat'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

/** A form of text fields, all of them required. */
const form = <Name extends string>(message: string, ...names: readonly Name[]) =>
  elicitForm({
    message,
    schema: jsonSchema<Record<Name, string>>({
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      required: names,
    }),
  })

const question = (text: string) =>
  createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 })

const oneString = (name: string): JsonObject => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
})

const contentTools = [
  defineTool({
    name: 'test_simple_text',
    description: 'Gives one text',
    handler: () => 'This is a simple text response for testing.',
  }),
  defineTool({
    name: 'test_image_content',
    description: 'Gives an image',
    handler: () => [{ type: 'image', data: png, mimeType: 'image/png' }],
  }),
  defineTool({
    name: 'test_audio_content',
    description: 'Gives a sound',
    handler: () => [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  }),
  defineTool({
    name: 'test_embedded_resource',
    description: 'Gives a resource',
    handler: () => [
      {
        type: 'resource',
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'An embedded resource.' },
      },
    ],
  }),
  defineTool({
    name: 'test_multiple_content_types',
    description: 'Gives text, an image and a resource',
    handler: () => [
      { type: 'text', text: 'Several kinds of content:' },
      { type: 'image', data: png, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data"}' },
      },
    ],
  }),
  defineTool({
    name: 'test_error_handling',
    description: 'Fails',
    handler() {
      throw new ToolError('This tool intentionally returns an error for testing')
    },
  }),
  defineTool({
    name: 'test_tool_with_progress',
    description: 'Reports progress',
    async handler(_args, { progress }) {
      for (const step of [0, 50, 100]) {
        await progress(step, 100)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      return 'done'
    },
  }),
  defineTool({
    name: 'test_tool_with_logging',
    description: 'Writes log messages',
    async handler(_args, { log }) {
      for (const text of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await log('info', text)
      }
      return 'done'
    },
  }),
  defineTool({
    name: 'test_logging_tool',
    description: 'Writes a log message',
    async handler(_args, { log }) {
      await log('error', 'only for those who asked')
      return 'done'
    },
  }),
  defineTool({
    name: 'test_x_mcp_header',
    description: 'Mirrors its argument into a header',
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    },
    handler: ({ region }) => `region: ${String(region as string | undefined)}`,
  }),
  defineTool({
    name: 'json_schema_2020_12_tool',
    description: 'Has a schema with many keywords',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      // "if", "then" and "else": an object literal with a member "then" would look like a promise.
      ...(JSON.parse(
        '{"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]}}',
      ) as JsonObject),
      additionalProperties: false,
    },
    handler: (args) => JSON.stringify(args),
  }),
]

const userForm = form('Please provide your information', 'username', 'email')
const capital = question('What is the capital of France?')
const roots = listRoots()

/** Forms with the fields that the suite looks for. */
const defaultsForm = elicitForm({
  message: 'Please review and update the form fields with defaults',
  schema: {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
  },
})

const choices = ['option1', 'option2', 'option3']
const titled = ['value1', 'value2', 'value3'].map((value) => ({ const: value, title: `Title of ${value}` }))
const enumsForm = elicitForm({
  message: 'Please select options from the enum fields',
  schema: {
    type: 'object',
    properties: {
      untitledSingle: { type: 'string', enum: choices },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: choices } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    },
  },
})

const askingTools = [
  defineTool({
    name: 'test_sampling',
    description: 'Asks the model of the client',
    inputSchema: jsonSchema<{ prompt: string }>(oneString('prompt')),
    handler({ prompt }, { input }) {
      const asked = question(prompt)
      const answer = input.get('answer', asked)
      if (answer === undefined) return ask({ answer: asked })
      return `LLM response: ${JSON.stringify(answer.content)}`
    },
  }),
  defineTool({
    name: 'test_elicitation',
    description: 'Asks the user of the client',
    inputSchema: jsonSchema<{ message: string }>(oneString('message')),
    handler({ message }, { input }) {
      const asked = form(message, 'username', 'email')
      const answer = input.get('user', asked)
      return answer === undefined ? ask({ user: asked }) : `User response: ${JSON.stringify(answer)}`
    },
  }),
  defineTool({
    name: 'test_elicitation_sep1034_defaults',
    description: 'Asks with a form that has defaults',
    handler: (_args, { input }) => JSON.stringify(input.get('fields', defaultsForm)) ?? ask({ fields: defaultsForm }),
  }),
  defineTool({
    name: 'test_elicitation_sep1330_enums',
    description: 'Asks with a form of choices',
    handler: (_args, { input }) => JSON.stringify(input.get('choices', enumsForm)) ?? ask({ choices: enumsForm }),
  }),
  defineTool({
    name: 'test_input_required_result_elicitation',
    description: 'Asks for a name',
    handler(_args, { input }) {
      const asked = form('What is your name?', 'name')
      const answer = input.get('user_name', asked)
      return answer?.action === 'accept' ? `Hello, ${answer.content.name}!` : ask({ user_name: asked })
    },
  }),
  defineTool({
    name: 'test_input_required_result_sampling',
    description: 'Asks the model for a capital',
    handler(_args, { input }) {
      const answer = input.get('capital_question', capital)
      return answer === undefined ? ask({ capital_question: capital }) : JSON.stringify(answer.content)
    },
  }),
  defineTool({
    name: 'test_input_required_result_list_roots',
    description: 'Asks for the roots of the client',
    handler(_args, { input }) {
      const answer = input.get('client_roots', roots)
      return answer === undefined ? ask({ client_roots: roots }) : answer.map(({ uri }) => uri).join(' ')
    },
  }),
  defineTool({
    name: 'test_input_required_result_multiple_inputs',
    description: 'Asks for several things at once',
    handler(_args, { input }) {
      const greeting = question('Write a greeting')
      const nameForm = form('What is your name?', 'name')
      const user = input.get('user_name', nameForm)
      const wrote = input.get('greeting', greeting)
      const where = input.get('client_roots', roots)
      if (user === undefined || wrote === undefined || where === undefined || input.state !== 'asked') {
        return ask({ user_name: nameForm, greeting, client_roots: roots }, { state: 'asked' })
      }
      return JSON.stringify([user, wrote.content, where])
    },
  }),
  defineTool({
    name: 'test_input_required_result_multi_round',
    description: 'Asks twice, the second time about the first answer',
    handler(_args, { input }) {
      const step1 = form('What is your name?', 'name')
      const step2 = form('What is your favourite colour?', 'color')
      const { name } = (input.state ?? {}) as { name?: string }
      if (name === undefined) {
        const first = input.get('step1', step1)
        if (first?.action !== 'accept') return ask({ step1 }, { state: {} })
        return ask({ step2 }, { state: { name: first.content.name } })
      }
      const second = input.get('step2', step2)
      return second?.action === 'accept' ? `${name} likes ${second.content.color}` : ask({ step2 }, { state: { name } })
    },
  }),
  ...['request_state', 'tampered_state'].map((name) =>
    defineTool({
      name: `test_input_required_result_${name}`,
      description: 'Asks for consent and wants its state back',
      handler(_args, { input }) {
        const confirm = elicitForm({
          message: 'Go on?',
          schema: jsonSchema<{ ok: boolean }>({
            type: 'object',
            properties: { ok: { type: 'boolean' } },
            required: ['ok'],
          }),
        })
        const answer = input.get('confirm', confirm)
        return answer === undefined || input.state !== 'asked' ? ask({ confirm }, { state: 'asked' }) : 'state-ok'
      },
    }),
  ),
  defineTool({
    name: 'test_input_required_result_capabilities',
    description: 'Asks for what the client can do',
    handler(_args, { input }) {
      const user = optional(userForm)
      const sample = optional(capital)
      const isAnswered = input.get('sample', sample) !== undefined || input.get('user', user) !== undefined
      return isAnswered ? 'done' : ask({ user, sample })
    },
  }),
  defineTool({
    name: 'test_missing_capability',
    description: 'Cannot work without sampling',
    requires: { sampling: {} },
    handler: () => 'done',
  }),
  defineTool({
    name: 'test_streaming_elicitation',
    description: 'Asks the user',
    handler(_args, { input }) {
      const answer = input.get('user', userForm)
      return answer === undefined ? ask({ user: userForm }) : 'done'
    },
  }),
]

const contextForm = form('What are you working on?', 'context')

const prompts = [
  definePrompt({
    name: 'test_simple_prompt',
    description: 'One message',
    handler: () => 'This is a simple prompt for testing.',
  }),
  definePrompt({
    name: 'test_prompt_with_arguments',
    description: 'Repeats its arguments',
    arguments: { arg1: { description: 'First', required: true }, arg2: { description: 'Second', required: true } },
    complete: { arg1: ({ value }) => ['testValue1', 'other'].filter((known) => known.startsWith(value)) },
    handler: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  }),
  definePrompt({
    name: 'test_prompt_with_embedded_resource',
    description: 'Holds a resource',
    arguments: { resourceUri: { description: 'Which', required: true } },
    handler: ({ resourceUri }) => [
      {
        role: 'user',
        content: { type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'x' } },
      },
      { role: 'user', content: 'Please process the embedded resource above.' },
    ],
  }),
  definePrompt({
    name: 'test_prompt_with_image',
    description: 'Holds an image',
    handler: () => [
      { role: 'user', content: { type: 'image', data: png, mimeType: 'image/png' } },
      { role: 'user', content: 'Please analyze the image above.' },
    ],
  }),
  definePrompt({
    name: 'test_input_required_result_prompt',
    description: 'Asks for its context',
    handler(_args, { input }) {
      const answer = input.get('user_context', contextForm)
      return answer?.action === 'accept' ? `Context: ${answer.content.context}` : ask({ user_context: contextForm })
    },
  }),
]

const resources = [
  defineResource({
    uri: 'test://static-text',
    name: 'Static text',
    description: 'A text',
    mimeType: 'text/plain',
    read: () => 'This is the content of the static text resource.',
  }),
  defineResource({
    uri: 'test://static-binary',
    name: 'Static binary',
    description: 'An image',
    mimeType: 'image/png',
    read: () => ({ blob: png }),
  }),
  defineResource({
    uri: 'test://watched-resource',
    name: 'Watched',
    description: 'Can be subscribed to',
    mimeType: 'text/plain',
    read: () => 'watched',
  }),
]

const resourceTemplates = [
  defineResourceTemplate({
    uriTemplate: 'test://template/{id}/data',
    name: 'Template',
    description: 'One for each id',
    mimeType: 'application/json',
    read: ({ variables }) => JSON.stringify({ id: variables.id, data: `Data for ID: ${variables.id}` }),
  }),
]

/** A server with everything that the official conformance suite calls, save what only HTTP can show. */
export function createConformanceCore(): Core {
  const triggers = [
    defineTool({
      name: 'test_trigger_tool_change',
      description: 'Says that the tools changed',
      handler() {
        core.notifyToolsChanged()
        return 'done'
      },
    }),
    defineTool({
      name: 'test_trigger_prompt_change',
      description: 'Says that the prompts changed',
      handler() {
        core.notifyPromptsChanged()
        return 'done'
      },
    }),
  ]
  const core: Core = createCore({
    info: { name: 'conformance', version: '1.0.0', title: 'Conformance fixture' },
    instructions: 'For the official conformance suite.',
    tools: [...contentTools, ...askingTools, ...triggers],
    prompts,
    resources,
    resourceTemplates,
    listChanged: { tools: true, prompts: true, resources: true },
    subscribe: true,
    logging: true,
  })
  return core
}
