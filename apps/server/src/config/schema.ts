import { frontConfigShape, frontLimitsShape, limit, policyShape } from '@atenea/fronts/config'
import * as z from 'zod'
import { atprotoDefaults, maxMessageBlobBytes } from '../atproto/atproto-settings.ts'
import { isDirectoryUrl, isHttpOrigin, isServerAddress } from './atproto-settings.ts'

const names = (what: string, verb: 'Serve' | 'Do not serve'): z.ZodOptional<z.ZodArray<z.ZodString>> =>
  z
    .array(z.string().min(1))
    .describe(`${verb} ${verb === 'Serve' ? 'only ' : ''}${what} that match one of these globs; * stands for anything.`)
    .optional()

/** An absolute URI as RFC 3986 has it: what the URL parser would mend is refused, since clients compare URIs as they are. */
function isUri(text: string): boolean {
  return URL.canParse(text) && /^[a-z][a-z\d+.-]*:(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\da-f]{2})*$/i.test(text)
}

const resource = z
  .strictObject({
    uri: z
      .string()
      .refine(isUri, 'must be an absolute URI, with anything but ASCII percent-encoded')
      .describe('The URI under which clients read it.'),
    name: z.string().min(1),
    title: z.string().optional(),
    description: z.string().optional(),
    mimeType: z
      .string()
      .optional()
      .describe('Media type; for a file without one it is told from its bytes: text or not.'),
    text: z.string().optional().describe('The content itself.'),
    file: z.string().min(1).optional().describe('A file that is read whenever the resource is; relative to this file.'),
  })
  .refine(({ text, file }) => (text === undefined) !== (file === undefined), 'needs either text or file, and not both')

/** The configuration file of `atenea-server`. Unknown keys are faults. */
export const configSchema = z
  .strictObject({
    $schema: z.string().optional().describe('For editors; ignored here.'),
    ...frontConfigShape,
    ...policyShape,
    enabledTools: names('tools', 'Serve'),
    disabledTools: names('tools', 'Do not serve'),
    enabledPrompts: names('prompts', 'Serve'),
    disabledPrompts: names('prompts', 'Do not serve'),
    enabledResources: names('resources, by URI,', 'Serve'),
    disabledResources: names('resources, by URI,', 'Do not serve'),
    resources: z
      .array(resource)
      .refine((all) => new Set(all.map(({ uri }) => uri)).size === all.length, 'two resources have the same URI')
      .optional()
      .describe('Resources with fixed content.'),
    fileRoots: z
      .array(z.string().min(1))
      .optional()
      .describe('Folders that file arguments of tools may point into, as --file-root; relative to this file.'),
    plcDirectory: z
      .string()
      .refine(isDirectoryUrl, 'must be a URL such as https://plc.directory')
      .optional()
      .describe('URL of the directory of did:plc, as --plc-directory.'),
    allowEndpoints: z
      .array(z.string().refine(isHttpOrigin, 'must be an exact origin, such as http://localhost:2583'))
      .optional()
      .describe('Origins that may be spoken to whatever they are, as --allow-endpoint.'),
    nameservers: z
      .array(z.string().refine(isServerAddress, 'must be an address, such as 192.0.2.53'))
      .optional()
      .describe('Name servers that are asked for handles, as --nameserver.'),
    dids: z
      .array(z.string().startsWith('did:'))
      .optional()
      .describe('DIDs of accounts that are suggested when a client completes the address of a blob.'),
    cacheDir: z.string().min(1).optional().describe('Folder for blobs that were fetched, as --cache-dir.'),
    limits: z
      .strictObject({
        inlineBytes: limit(
          0,
          maxMessageBlobBytes,
          atprotoDefaults.inlineLimitBytes,
          'Largest blob that the result of a tool holds, in bytes; a larger one is linked to.',
        ),
        cacheBytes: limit(
          0,
          999_999_999_999_999,
          atprotoDefaults.cacheMaxBytes,
          'Bytes of all blobs in the cache together.',
        ),
        ...frontLimitsShape,
      })
      .optional(),
  })
  .meta({ title: 'Configuration of atenea-server' })

export type Config = z.infer<typeof configSchema>
