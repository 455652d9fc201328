import { logFormats, logLevels } from '@atenea/cli'
import * as z from 'zod'
import { frontDefaults } from '../front-settings.ts'
import type { FrontConfig } from './front-config.ts'
import { isOrigin } from './read-http-settings.ts'

const text = z.string().min(1).optional()
const texts = z.array(z.string().min(1)).optional()

/** A whole number with its default, for the limits of a program. */
export function limit(min: number, max: number, fallback: number, what: string): z.ZodOptional<z.ZodInt> {
  return z.int().min(min).max(max).describe(`${what} Default ${fallback}.`).optional()
}

type ShapeOf<T> = { readonly [K in keyof T]-?: z.ZodOptional<z.ZodType<NonNullable<T[K]>>> }

/** Members of a configuration file that are about fronts, to be put into the object of a program beside its own. */
export const frontConfigShape: ShapeOf<Omit<FrontConfig, 'limits'>> = {
  stdio: z.boolean().optional().describe('Serve on stdin and stdout.'),
  sockets: texts.describe('Unix sockets to serve on, as --socket.'),
  http: texts.describe('Where to serve HTTP: [HOST:]PORT, as --http.'),
  bearerTokenFile: z
    .string()
    .min(1)
    .optional()
    .describe('A file with the tokens of those who may use HTTP; relative to this file.'),
  allowUnauthenticated: z
    .boolean()
    .optional()
    .describe('Serve HTTP to everybody who can reach it, also from other machines.'),
  allowedOrigins: z
    .array(z.string().refine(isOrigin, 'must be an origin, such as https://example.com'))
    .optional()
    .describe('Origins of web pages that may ask by HTTP.'),
  auth: z
    .strictObject({
      issuer: text.describe('The OAuth authorization server whose access tokens are taken, as --auth-issuer.'),
      audience: z
        .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
        .optional()
        .describe('What tokens must be issued for, as --auth-audience.'),
      resource: text.describe('URL of the endpoint as clients know it, where the audience is another name.'),
      scopes: texts.describe('Scopes that every token must have, as --auth-scope.'),
      offeredScopes: texts.describe('Further scopes that clients are told to ask for, for rules of the policy.'),
      jwksUri: text.describe('Where the keys of the authorization server are. Default: as its metadata says.'),
      algorithms: texts.describe('Signatures that are taken, such as ES256. Default: all that need no shared secret.'),
      introspection: z
        .strictObject({
          clientId: text.describe('Who we are to the authorization server, as --auth-client-id.'),
          clientSecretFile: text.describe('A file with the secret; relative to this file.'),
          endpoint: text.describe('Where to ask. Default: as its metadata says.'),
        })
        .optional()
        .describe('Asks the authorization server about each token in place of verifying its signature.'),
    })
    .optional()
    .describe('Serve HTTP to clients that sign in at an authorization server.'),
  protocol: z.enum(['both', 'legacy', 'modern']).optional().describe('Eras of the protocol that are served.'),
  legacyRevisions: z
    .array(z.string())
    .min(1)
    .optional()
    .describe('Legacy revisions to serve in place of the default one.'),
  logLevel: z.enum(logLevels).optional(),
  logFormat: z.enum(logFormats).optional(),
}

/** Members of its `limits`. */
export const frontLimitsShape: ShapeOf<NonNullable<FrontConfig['limits']>> = {
  maxBodyBytes: limit(1024, 256 * 1024 * 1024, frontDefaults.maxBodyBytes, 'Longest message that is read, in bytes.'),
  maxInFlight: limit(1, 65_536, frontDefaults.maxInFlight, 'Most calls in flight for one connection.'),
  shutdownTimeoutMs: limit(
    0,
    600_000,
    frontDefaults.shutdownTimeoutMs,
    'How long accepted calls may go on after the end of input or a signal, in milliseconds.',
  ),
}
