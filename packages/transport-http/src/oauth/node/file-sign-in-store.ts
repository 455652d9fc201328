import { createHash } from 'node:crypto'
import { chmod, mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { FailedSignIn, RegisteredClient, SignIn, SignInStore } from '../sign-in-store.ts'
import { withFileLock } from './file-lock.ts'

/**
 * Keeps sign-ins in a directory that only its owner can read: one file of mode 0600 for each server and each client, replaced as a whole, so
 * that whoever reads while another writes sees the old or the new one. Several processes may use it at once.
 */
export function createFileSignInStore(directory: string): SignInStore {
  const signIns = new Folder<SignIn>(join(directory, 'sign-ins'))
  const clients = new Folder<RegisteredClient>(join(directory, 'clients'))
  const failures = new Folder<FailedSignIn>(join(directory, 'failures'))
  const locks = new Folder(join(directory, 'locks'))
  return {
    get: async (server) => await signIns.read(server),
    set: async (signIn) => await signIns.write(signIn.server, signIn),
    delete: async (server) => await signIns.remove(server),
    list: async () => await signIns.all(),
    getClient: async (issuer) => await clients.read(issuer),
    setClient: async (client) => await clients.write(client.issuer, client),
    deleteClient: async (issuer) => await clients.remove(issuer),
    getFailure: async (server) => await failures.read(server),
    setFailure: async (server, failure) =>
      failure === undefined ? await failures.remove(server) : await failures.write(server, failure),
    async exclusive(server, work, options) {
      return await withFileLock(await locks.path(server), work, options)
    },
  }
}

/** Files by the digest of a name that may hold any characters. */
class Folder<T extends object = object> {
  readonly #path: string
  #made: Promise<void> | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Where the file of this name is; the folder exists then. */
  async path(name: string): Promise<string> {
    this.#made ??= makePrivate(this.#path)
    await this.#made
    return this.#file(name)
  }

  async read(name: string): Promise<T | undefined> {
    return await readJson<T>(this.#file(name))
  }

  async write(name: string, value: T): Promise<void> {
    const path = await this.path(name)
    const draft = `${path}.${crypto.randomUUID()}`
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(value, undefined, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  }

  async remove(name: string): Promise<void> {
    await unlink(this.#file(name)).catch((error: unknown) => {
      if (!isMissing(error)) throw error
    })
  }

  async all(): Promise<readonly T[]> {
    const names = await readdir(this.#path).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
    const read = names.filter((name) => name.endsWith('.json')).map((name) => readJson<T>(join(this.#path, name)))
    return (await Promise.all(read)).filter((value) => value !== undefined)
  }

  #file(name: string): string {
    return join(this.#path, `${createHash('sha256').update(name).digest('hex').slice(0, 32)}.json`)
  }
}

async function makePrivate(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  // It may have been there before, readable by others.
  if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o700)
}

/** What a file holds; nothing when it is missing or is not what was written, which a new sign-in mends. */
async function readJson<T extends object>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
