import { stateDir } from '@atenea/cli'
import { join } from 'node:path'

/** The folder of the sign-ins of this user, which need not be there. Throws a `UsageError` where there is no home directory. */
export function signInFolder(environment: Readonly<Record<string, string | undefined>>): string {
  return join(stateDir(environment), 'oauth')
}
