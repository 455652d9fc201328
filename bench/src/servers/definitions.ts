/** One tool that a bench server offers, as plain data, so that every server lists the same. */
export interface ToolDefinition {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: ToolInputSchema
}

/** The part of JSON Schema that the bench's own tools use. */
export type ToolInputSchema = {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, ToolProperty>>
  readonly required?: readonly string[]
}

/** One argument of a tool. */
export type ToolProperty = {
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

/** Answers its argument. */
export const echoTool: ToolDefinition = {
  name: 'echo',
  title: 'Echo',
  description: 'Answers the text that it was given, unchanged.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', description: 'What to answer' } },
    required: ['text'],
  },
}

/** Answers after `ms` milliseconds, or writes `aborted NANOSECONDS` (monotonic clock) to stderr when it is cancelled. */
export const sleepTool: ToolDefinition = {
  name: 'sleep',
  title: 'Sleep',
  description: 'Waits for a number of milliseconds.',
  inputSchema: {
    type: 'object',
    properties: { ms: { type: 'integer', description: 'How long to wait, in milliseconds' } },
    required: ['ms'],
  },
}

/** Adds one to a counter of the process and answers it, which shows that a connection still works and in what order. */
export const bumpTool: ToolDefinition = {
  name: 'bump',
  title: 'Bump',
  description: 'Adds one to a counter and answers it.',
  inputSchema: { type: 'object', properties: {} },
}

/** A tool of the size that real servers have, to fill long lists. Answers the path that it was given. */
export function fillerTool(index: number): ToolDefinition {
  const number = String(index).padStart(4, '0')
  return {
    name: `find_files_${number}`,
    title: `Find files ${number}`,
    description: 'Finds files whose name matches a pattern below a folder.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where to search' },
        limit: { type: 'integer', description: 'How many to answer at most' },
        hidden: { type: 'boolean', description: 'Whether to look at hidden files' },
      },
      required: ['path'],
    },
  }
}

/** The fillers that bring a server with the three named tools to `count` tools. */
export function fillerTools(count: number): readonly ToolDefinition[] {
  return Array.from({ length: Math.max(0, count - 3) }, (_, index) => fillerTool(index))
}
