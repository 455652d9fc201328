import type { FindingKinds } from './kind.ts'

/** Lists and what stands in them. */
export const listFindings = {
  'list-malformed': {
    level: 'error',
    requirements: ['MC-TOOL-01', 'MC-RES-01', 'MC-PRM-01'],
    title: 'The result of a list method holds no array under its name',
    repair: 'Answer with an array under tools, prompts, resources or resourceTemplates; [] when there is nothing.',
  },
  'list-unstable': {
    level: 'warning',
    requirements: ['MC-TOOL-03', 'MC-TOOL-02', 'MC-RES-02', 'MC-PRM-02'],
    title: 'Two readings of a list, one after the other, differ',
    repair: 'List in a fixed order, and independent of earlier requests: clients compare and cache lists.',
  },
  'page-cursor-repeated': {
    level: 'error',
    requirements: ['MC-PAGE-06', 'F4'],
    title: 'A list goes in circles: a cursor comes up again',
    repair: 'Leave nextCursor out on the last page, and never give a cursor that was given before.',
  },
  'page-cursor-type': {
    level: 'error',
    requirements: ['MC-PAGE-01', 'F4'],
    title: 'nextCursor is no string',
    repair: 'Send nextCursor as a string, or leave it out.',
  },
  'page-endless': {
    level: 'error',
    requirements: ['MC-PAGE-06', 'F4'],
    title: 'A list does not end',
    repair: 'Leave nextCursor out on the last page.',
  },
  'page-empty': {
    level: 'warning',
    requirements: ['MC-PAGE-04', 'F4'],
    title: 'A page holds nothing and yet leads to another one',
    repair: 'Leave nextCursor out when nothing follows; each page costs clients a round trip.',
  },
  'page-repeats-items': {
    level: 'warning',
    requirements: ['MC-PAGE-06', 'F4'],
    title: 'A page repeats entries of an earlier page',
    repair: 'Let each cursor continue after the last entry of its page.',
  },
  'page-cursor-unrefused': {
    level: 'warning',
    requirements: ['MC-PAGE-07', 'LG-PAGE-01'],
    title: 'A cursor that the server never gave is not refused with -32602',
    repair: 'Answer cursors that cannot be read with -32602, so that clients start again.',
  },
  'tool-malformed': {
    level: 'error',
    requirements: ['MC-TOOL-04'],
    title: 'An entry of the tool list is no tool',
    repair: 'List tools as objects with a string name and an inputSchema.',
  },
  'tool-name': {
    level: 'warning',
    requirements: ['MC-TOOL-09'],
    title: 'A tool name has characters or a length that clients may refuse',
    repair: 'Use 1 to 128 characters of A-Z a-z 0-9 _ - . in names, and put the rest into title.',
  },
  'tool-duplicate': {
    level: 'error',
    requirements: ['MC-TOOL-09'],
    title: 'Two tools have the same name, so that one of them cannot be called',
    repair: 'Give every tool a name of its own.',
  },
  'tool-description': {
    level: 'warning',
    requirements: ['MC-TOOL-04'],
    title: 'A tool has no description, so that models must guess what it does',
    repair: 'Say in description what the tool does and when to use it.',
  },
  'tool-input-schema': {
    level: 'error',
    requirements: ['MC-TOOL-04', 'LG-TOOL-02'],
    title: 'The inputSchema of a tool is no object schema',
    repair:
      'Give every tool an inputSchema with "type": "object" at its root; {"type":"object"} when it takes nothing.',
  },
  'tool-output-schema': {
    level: 'error',
    requirements: ['MC-TOOL-05', 'LG-TOOL-02'],
    title: 'The outputSchema of a tool is no schema of its era',
    repair: 'Make outputSchema a JSON Schema object; in the legacy era with "type": "object" at its root.',
  },
  'tool-annotations': {
    level: 'error',
    requirements: ['MC-TOOL-14'],
    title: 'The annotations of a tool have a form that the schema does not know',
    repair: 'Send readOnlyHint, destructiveHint, idempotentHint and openWorldHint as booleans, title as a string.',
  },
  'tool-hints-contradict': {
    level: 'warning',
    requirements: ['MC-TOOL-14'],
    title: 'A tool says of itself that it only reads and that it destroys',
    repair: 'Set destructiveHint to false, or leave it out, where readOnlyHint is true.',
  },
  'schema-invalid': {
    level: 'error',
    requirements: ['MC-SCH-04'],
    title: 'A schema of a tool is not valid JSON Schema',
    repair: 'Correct the keyword; clients and models refuse the whole tool otherwise.',
  },
  'schema-dialect': {
    level: 'warning',
    requirements: ['MC-SCH-01', 'MC-SCH-02'],
    title: 'A schema of a tool declares a dialect that few clients support',
    repair: 'Use JSON Schema 2020-12, which needs no $schema.',
  },
  'schema-ref-network': {
    level: 'error',
    requirements: ['MC-SCH-05', 'MC-SCH-07'],
    title: 'A schema of a tool refers to the network, which no client may follow',
    repair: 'Put what it refers to into $defs of the schema itself.',
  },
  'schema-ref-dangling': {
    level: 'error',
    requirements: ['MC-SCH-04', 'MC-SCH-07'],
    title: 'A $ref in a schema of a tool leads nowhere',
    repair: 'Add what it refers to under $defs, or correct the pointer.',
  },
  'param-header': {
    level: 'error',
    requirements: ['MH-XMH-03', 'MH-XMH-04', 'MH-XMH-05', 'MH-XMH-06', 'MH-XMH-08', 'MH-XMH-09', 'MH-XMH-11'],
    title: 'An x-mcp-header annotation is invalid, so that HTTP clients drop the whole tool',
    repair:
      'Annotate only string, integer and boolean properties that "properties" alone lead to, each with a header token of its own.',
  },
  'param-header-sensitive': {
    level: 'warning',
    requirements: ['MH-XMH-14'],
    title: 'A parameter that looks like a secret is mirrored into a header, where intermediaries see and log it',
    repair: 'Take x-mcp-header off the parameter.',
  },
  'prompt-malformed': {
    level: 'error',
    requirements: ['MC-PRM-01', 'MC-PRM-03'],
    title: 'An entry of the prompt list is no prompt',
    repair:
      'List prompts as objects with a string name and, if any, arguments: an array of {name, description?, required?}.',
  },
  'prompt-duplicate': {
    level: 'error',
    requirements: ['MC-PRM-01'],
    title: 'Two prompts have the same name',
    repair: 'Give every prompt a name of its own.',
  },
  'resource-malformed': {
    level: 'error',
    requirements: ['MC-RES-01', 'MC-RES-10'],
    title: 'An entry of the resource list is no resource',
    repair: 'List resources as objects with an absolute uri and a string name.',
  },
  'resource-duplicate': {
    level: 'warning',
    requirements: ['MC-RES-01'],
    title: 'Two resources have the same uri',
    repair: 'List each uri once.',
  },
  'template-malformed': {
    level: 'error',
    requirements: ['MC-RES-09'],
    title: 'An entry of the template list is no resource template',
    repair: 'List templates as objects with a uriTemplate by RFC 6570 and a string name.',
  },
  annotations: {
    level: 'error',
    requirements: ['MC-RES-13'],
    title: 'The annotations of a resource have values that the schema does not allow',
    repair: 'Use audience user and assistant, a priority of 0 to 1, and an ISO 8601 time for lastModified.',
  },
  icon: {
    level: 'error',
    requirements: ['MC-ICON-02', 'MC-ICON-04'],
    title: 'An icon cannot be shown by any client',
    repair: 'Give icons a src that is https: or data:, sizes as an array of strings, and theme light or dark.',
  },
} as const satisfies FindingKinds
