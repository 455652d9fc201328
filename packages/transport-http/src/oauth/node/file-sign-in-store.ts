import { join } from 'node:path'
import type { SignInStore } from '../sign-in-store.ts'
import { withFileLock } from './file-lock.ts'
import { PrivateFolder, storageError } from './private-folder.ts'
import { isFailedSignIn, isRegisteredClient, isSignIn } from './stored-shapes.ts'

/**
 * Keeps sign-ins in a directory that only its owner can read: one file of mode 0600 for each server and each client, replaced as a whole, so
 * that whoever reads while another writes sees the old or the new one. Several processes may use it at once. What cannot be read or
 * written is an `OAuthError` of code `storage`; a file that does not hold what was written counts as missing.
 */
export function createFileSignInStore(directory: string): SignInStore {
  const signIns = new PrivateFolder(join(directory, 'sign-ins'), isSignIn)
  const clients = new PrivateFolder(join(directory, 'clients'), isRegisteredClient)
  const failures = new PrivateFolder(join(directory, 'failures'), isFailedSignIn)
  const locks = new PrivateFolder(join(directory, 'locks'), isNothing)
  return {
    async get(server) {
      const found = await signIns.read(server)
      // MC-AUTH-05: a file that was put in the place of another
      return found?.server === server ? found : undefined
    },
    set: async (signIn) => await signIns.write(signIn.server, signIn),
    delete: async (server) => await signIns.remove(server),
    list: async () => await signIns.all(),
    async getClient(issuer) {
      const found = await clients.read(issuer)
      return found?.issuer === issuer ? found : undefined
    },
    setClient: async (client) => await clients.write(client.issuer, client),
    deleteClient: async (issuer) => await clients.remove(issuer),
    getFailure: async (server) => await failures.read(server),
    setFailure: async (server, failure) =>
      failure === undefined ? await failures.remove(server) : await failures.write(server, failure),
    async exclusive(server, work, options) {
      const path = await locks.path(server)
      let begun = false
      const begin = async () => {
        begun = true
        return await work()
      }
      return await withFileLock(path, begin, options).catch((error: unknown) => {
        if (begun || options?.signal?.aborted === true) throw error
        throw storageError(error, path)
      })
    },
  }
}

/** Locks are read by those who take them. */
function isNothing(_value: unknown): _value is object {
  return false
}
