import { readTextFile, UsageError } from '@atenea/cli'
import { resolve } from 'node:path'
import type { CommandLine } from '../command-line.ts'
import type { SignInSetting } from './sign-in-setting.ts'
import type { SignInKeys } from './sign-in-shape.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What the command line says about signing in. Throws a `UsageError` for what contradicts itself or cannot be read. */
export function signInOf(values: CommandLine['values'], environment: Environment): SignInSetting {
  return checked({
    way: values['sign-in'],
    clientId: values['oauth-client-id'],
    clientSecret: values['oauth-client-id'] === undefined ? undefined : environment['ATENEA_OAUTH_CLIENT_SECRET'],
    clientSecretFile: values['oauth-client-secret-file'],
    privateKeyFile: values['oauth-private-key-file'],
    keyAlgorithm: values['oauth-key-algorithm'],
    issuer: values['oauth-issuer'],
    clientMetadataUrl: values['oauth-client-metadata-url'],
    scopes: values['oauth-scope'] === undefined ? undefined : [...values['oauth-scope']],
    tokenFile: values['token-file'],
  })
}

/** What a configuration says about it for one server; `folder` is that of the file. */
export function signInOfKeys(keys: SignInKeys | undefined, folder: string, way: SignInKeys['way']): SignInSetting {
  const place = (file: string | undefined): string | undefined =>
    file === undefined ? undefined : resolve(folder, file)
  return checked({
    ...keys,
    way: keys?.way ?? way,
    clientSecretFile: place(keys?.clientSecretFile),
    privateKeyFile: place(keys?.privateKeyFile),
    tokenFile: place(keys?.tokenFile),
  })
}

type Keys = { readonly [K in keyof SignInKeys]?: SignInKeys[K] | undefined }

function checked(keys: Keys): SignInSetting {
  const {
    way = 'auto',
    clientId,
    clientSecretFile,
    privateKeyFile,
    issuer,
    clientMetadataUrl,
    scopes = [],
    tokenFile,
  } = keys
  const fileSecret = clientSecretFile === undefined ? undefined : fileText(clientSecretFile, 'client secret')
  const secret = fileSecret ?? keys.clientSecret
  const privateKey = privateKeyFile === undefined ? undefined : fileText(privateKeyFile, 'private key')
  if (clientId === undefined && (secret !== undefined || privateKey !== undefined || issuer !== undefined)) {
    throw new UsageError(
      'a client secret, a private key and an issuer belong to a client: give its id (--oauth-client-id)',
    )
  }
  if (way === 'client' && secret === undefined && privateKey === undefined) {
    throw new UsageError('to sign in as a program (client) takes a client id with a secret or a private key')
  }
  for (const [what, url] of [
    ['issuer', issuer],
    ['client-ID metadata document', clientMetadataUrl],
  ] as const) {
    if (url !== undefined && !URL.canParse(url)) throw new UsageError(`the ${what} must be a URL`)
  }
  return {
    way,
    client:
      clientId === undefined ? undefined : { id: clientId, secret, privateKey, algorithm: keys.keyAlgorithm, issuer },
    clientMetadataUrl,
    scopes,
    tokenFile: tokenFile === undefined ? undefined : resolve(tokenFile),
  }
}

function fileText(file: string, what: string): string {
  const text = readTextFile(file, `the ${what}`).trim()
  if (text !== '') return text
  throw new UsageError(`the file of the ${what}, ${file}, is empty`)
}
