import type { ConnectHttpOptions } from '@atenea/transport-http'
import type { BackendSetting } from '../settings.ts'

/**
 * Where the credentials of a server on HTTP come from, besides headers that the operator gave. The one place where they are decided; none
 * are kept by this program.
 */
export function authorizationOf(_setting: BackendSetting): ConnectHttpOptions['authorization'] {
  return undefined
}
