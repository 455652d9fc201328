/** How the network of the AT Protocol is reached, and what of it may be kept and handed out. */
export interface AtprotoSettings {
  /** Folders, as absolute real paths, that file arguments of tools may point into. */
  readonly fileRoots: readonly string[]
  /** URL of the directory of did:plc; `undefined` for the public one. */
  readonly plcDirectory: string | undefined
  /** Origins that the rules for endpoints are lifted for. */
  readonly allowEndpoints: readonly string[]
  /** Name servers that are asked for handles; empty for those of the system. */
  readonly nameservers: readonly string[]
  /** Accounts that are suggested where one is to be named. */
  readonly dids: readonly string[]
  /** Largest blob that a tool result holds; a larger one is linked to. */
  readonly inlineLimitBytes: number
  /** Absolute path of the folder for blobs that were fetched. */
  readonly cacheDir: string
  readonly cacheMaxBytes: number
  /** Absolute path of the folder for uploads that come in pieces. */
  readonly stateDir: string
  readonly account: AccountSetting
}

/** The account to upload for, as far as the environment names one. */
export interface AccountSetting {
  readonly identifier: string | undefined
  readonly password: string | undefined
}

/** Where the environment names the account. */
export const accountVariables = { identifier: 'ATPROTO_IDENTIFIER', password: 'ATPROTO_APP_PASSWORD' } as const

/**
 * Largest blob that fits into one message whatever is configured: common clients close a connection on which a message passes
 * 10 MiB, and base64 makes three bytes four.
 */
export const maxMessageBlobBytes = 7_000_000

export const atprotoDefaults = {
  inlineLimitBytes: 1024 * 1024,
  cacheMaxBytes: 1024 ** 3,
} as const
