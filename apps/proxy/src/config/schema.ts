import { serversFileSchema } from '@atenea/cli/config'
import { frontConfigShape, frontLimitsShape, policyShape } from '@atenea/fronts/config'
import * as z from 'zod'
import { signInShape } from '../auth/sign-in-shape.ts'

const timeoutMs = (what: string): z.ZodOptional<z.ZodInt> => z.int().min(100).max(86_400_000).describe(what).optional()

const bounds = {
  startTimeoutMs: timeoutMs('Longest time for the start of a server, handshake included, in milliseconds.'),
  callTimeoutMs: timeoutMs('Longest time of a call without an answer or progress, in milliseconds.'),
  maxCallMs: timeoutMs('Longest time of a call, whatever progress it makes, in milliseconds.'),
}

const asking = {
  answerMs: z
    .int()
    .min(100)
    .max(600_000)
    .describe('Longest time that a call of a legacy server waits for the answers of a modern client, in milliseconds.')
    .optional(),
  maxAskingCalls: z
    .int()
    .min(1)
    .max(1_000)
    .describe(
      'Calls that may be open at once of clients that can be asked, for a server that does not say in which call it asks.',
    )
    .optional(),
}

const roots = z
  .array(z.union([z.string().min(1), z.strictObject({ uri: z.string().min(1), name: z.string().min(1).optional() })]))
  .describe(
    'What a legacy server is told when it asks for roots and no client has any: paths, relative to this file, or file:// URIs.',
  )
  .optional()

const renames = z
  .record(z.string().min(1), z.string().min(1))
  .describe('New names of tools, by the names that the server gives them.')
  .optional()

const legacyRevisions = z
  .array(z.string())
  .min(1)
  .describe('Legacy revisions that this server may speak, in place of those of the proxy.')
  .optional()

const sessions = {
  unheardSessionMs: z
    .int()
    .min(1_000)
    .max(86_400_000)
    .describe(
      'How long a legacy server keeps the session of a client that calls nothing and holds no stream open, in milliseconds.',
    )
    .optional(),
}

/** The `atenea` object of one server. Unknown keys are faults. */
export const serverSchema = z.strictObject({
  inheritEnv: z
    .union([z.array(z.string().min(1)), z.literal('all')])
    .describe('Variables that the command inherits besides the usual few such as PATH and HOME, or "all".')
    .optional(),
  headerFile: z
    .string()
    .min(1)
    .describe('A file with headers for every request, one "K: V" a line; relative to this file.')
    .optional(),
  signIn: signInShape.optional(),
  roots,
  legacyRevisions,
  renames,
  ...bounds,
})

/** The `atenea` object of the whole file. Unknown keys are faults. */
export const topSchema = z.strictObject({
  ...frontConfigShape,
  ...policyShape,
  separator: z
    .string()
    .min(1)
    .max(8)
    .describe('Stands between the name of a server and that of its tool, where there are several. Default "__".')
    .optional(),
  passExtensions: z.boolean().describe('Forward methods that the proxy does not know.').optional(),
  bridgeInput: z.boolean().describe('Relay questions of servers to people also between the two eras.').optional(),
  lockFile: z
    .string()
    .min(1)
    .describe('Hold back tools that are not as this file says, which `atenea-proxy pin` makes; relative to this file.')
    .optional(),
  sealKeyFile: z
    .string()
    .min(1)
    .describe(
      'A file with keys for what clients carry for servers that ask them, one "ID KEY" a line; relative to this file.',
    )
    .optional(),
  limits: z.strictObject({ ...frontLimitsShape, ...bounds, ...asking, ...sessions }).optional(),
})

export type ServerKeys = z.infer<typeof serverSchema>
export type TopKeys = z.infer<typeof topSchema>

export const configSchema = serversFileSchema({ serverSchema, topSchema }).meta({
  title: 'Configuration of atenea-proxy: the servers of an MCP client, and what the proxy does with them',
})
