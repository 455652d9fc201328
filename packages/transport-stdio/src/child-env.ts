/**
 * What a child process inherits of our environment. Names only that say who and where the user is and how to print for them;
 * nothing here holds a secret by convention. Everything else has to be given explicitly, because an MCP server is somebody else's
 * program and our environment may hold credentials for others.
 */
export const inheritedVariables: { readonly posix: readonly string[]; readonly windows: readonly string[] } = {
  posix: [
    // who and where
    'HOME',
    'LOGNAME',
    'USER',
    'SHELL',
    'PATH',
    'TMPDIR',
    'XDG_CACHE_HOME',
    'XDG_CONFIG_HOME',
    'XDG_DATA_HOME',
    'XDG_RUNTIME_DIR',
    'XDG_STATE_HOME',
    // how to print
    'LANG',
    'LANGUAGE',
    'LC_ALL',
    'LC_COLLATE',
    'LC_CTYPE',
    'LC_MESSAGES',
    'LC_MONETARY',
    'LC_NUMERIC',
    'LC_TIME',
    'TERM',
    'TZ',
    // which certificates this machine trusts
    'NODE_EXTRA_CA_CERTS',
    'SSL_CERT_DIR',
    'SSL_CERT_FILE',
  ],
  windows: [
    'APPDATA',
    'COMSPEC',
    'COMMONPROGRAMFILES',
    'HOMEDRIVE',
    'HOMEPATH',
    'LOCALAPPDATA',
    'NUMBER_OF_PROCESSORS',
    'OS',
    'PATH',
    'PATHEXT',
    'PROCESSOR_ARCHITECTURE',
    'PROGRAMDATA',
    'PROGRAMFILES',
    'PROGRAMFILES(X86)',
    'PROGRAMW6432',
    'PUBLIC',
    'SYSTEMDRIVE',
    'SYSTEMROOT',
    'TEMP',
    'TMP',
    'USERDOMAIN',
    'USERNAME',
    'USERPROFILE',
    'WINDIR',
    'NODE_EXTRA_CA_CERTS',
    'SSL_CERT_DIR',
    'SSL_CERT_FILE',
    'TZ',
  ],
}

export type Environment = Readonly<Record<string, string | undefined>>

export interface ChildEnvOptions {
  /** Ours, as a rule `process.env`. */
  readonly from: Environment
  /** Further names that are inherited, or `'all'` for everything. */
  readonly inherit?: readonly string[] | 'all' | undefined
  /** Set on top; `undefined` takes a variable away. */
  readonly add?: Environment | undefined
  readonly platform: NodeJS.Platform
}

/** The environment of a child: the safelist `inheritedVariables`, the names asked for, then explicit additions. */
export function createChildEnv(options: ChildEnvOptions): Record<string, string> {
  const windows = options.platform === 'win32'
  // Windows names are equal in any case, and `Path` is how it spells the most important one.
  const canonical = (name: string): string => (windows ? name.toUpperCase() : name)
  const { inherit = [] } = options
  const safelist = inheritedVariables[windows ? 'windows' : 'posix']
  const allowed = inherit === 'all' ? undefined : new Set([...safelist, ...inherit].map(canonical))
  const env = new Map<string, readonly [name: string, value: string]>()
  for (const [name, value] of Object.entries(options.from)) {
    if (value === undefined || allowed?.has(canonical(name)) === false) continue
    // A function that bash exported. A shell in the child would run it.
    if (value.startsWith('()')) continue
    env.set(canonical(name), [name, value])
  }
  for (const [name, value] of Object.entries(options.add ?? {})) {
    if (value === undefined) env.delete(canonical(name))
    else env.set(canonical(name), [name, value])
  }
  return Object.fromEntries(env.values())
}
