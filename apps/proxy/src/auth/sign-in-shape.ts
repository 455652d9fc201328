import * as z from 'zod'
import { signInWays } from './sign-in-setting.ts'

const text = (what: string): z.ZodOptional<z.ZodString> => z.string().min(1).describe(what).optional()

/** The `signIn` object of one server. Unknown keys are faults. */
export const signInShape = z
  .strictObject({
    way: z
      .enum(signInWays)
      .describe(
        'How to sign in where the server wants it. Default "auto": ask somebody where there is a browser or a terminal.',
      )
      .optional(),
    clientId: text('A client that was registered at the authorization server by hand.'),
    clientSecret: text('Its secret; best a variable of the environment in braces.'),
    clientSecretFile: text('A file with its secret; relative to this file.'),
    privateKeyFile: text('A file with its private key (PKCS #8 PEM), in place of a secret; relative to this file.'),
    keyAlgorithm: text('The algorithm of that key. Default "ES256".'),
    issuer: text('The authorization server where it is registered; it is used with no other.'),
    clientMetadataUrl: text('A client-ID metadata document, for authorization servers that take one.'),
    scopes: z.array(z.string().min(1)).describe('Asked for beside what the server wants.').optional(),
    tokenFile: text('A file that holds the access token, read anew when it has changed; relative to this file.'),
  })
  .describe('How to come to a token where the server wants one (OAuth).')

export type SignInKeys = z.infer<typeof signInShape>
