import { chmod, mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { OAuthError } from '../oauth-error.ts'

/** A draft that is older was left by a process that died. */
const deadDraftMs = 60_000

/**
 * Values of one kind in a directory that only its owner can read: each in a file of mode 0600, by the digest of a name that may hold any
 * characters, and replaced as a whole. What cannot be read or written is an `OAuthError` that says where.
 */
export class PrivateFolder<T extends object> {
  readonly #path: string
  readonly #isOne: (value: unknown) => value is T
  #made: Promise<void> | undefined

  constructor(path: string, isOne: (value: unknown) => value is T) {
    this.#path = path
    this.#isOne = isOne
  }

  /** Where the file of this name is; the folder exists then. */
  async path(name: string): Promise<string> {
    this.#made ??= makePrivate(this.#path)
    await this.#made.catch((error: unknown) => {
      this.#made = undefined
      throw storageError(error, this.#path)
    })
    return this.#file(name)
  }

  /** What a file holds; nothing when it is missing or holds anything else, which a new sign-in mends. */
  async read(name: string): Promise<T | undefined> {
    return await this.#readFile(this.#file(name))
  }

  async write(name: string, value: T): Promise<void> {
    const path = await this.path(name)
    const draft = `${path}.${crypto.randomUUID()}`
    try {
      const file = await open(draft, 'wx', 0o600)
      try {
        await file.writeFile(`${JSON.stringify(value, undefined, 2)}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
    } catch (error) {
      await unlink(draft).catch(() => undefined)
      throw storageError(error, this.#path)
    }
    await this.#removeDrafts(path)
  }

  async remove(name: string): Promise<void> {
    const path = this.#file(name)
    await unlink(path).catch((error: unknown) => {
      if (!isMissing(error)) throw storageError(error, this.#path)
    })
    await this.#removeDrafts(path)
  }

  async all(): Promise<readonly T[]> {
    const names = await this.#names()
    const read = names.filter((name) => name.endsWith('.json')).map((name) => this.#readFile(join(this.#path, name)))
    return (await Promise.all(read)).filter((value) => value !== undefined)
  }

  async #readFile(path: string): Promise<T | undefined> {
    try {
      const value: unknown = JSON.parse(await readFile(path, 'utf8'))
      return this.#isOne(value) ? value : undefined
    } catch (error) {
      if (isMissing(error) || error instanceof SyntaxError) return undefined
      throw storageError(error, this.#path)
    }
  }

  /** What was half written when its process was killed holds secrets too. */
  async #removeDrafts(path: string): Promise<void> {
    const drafts = (await this.#names())
      .map((name) => join(this.#path, name))
      .filter((file) => file.startsWith(`${path}.`))
    for (const draft of drafts) {
      const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
      if (Date.now() - mtimeMs > deadDraftMs) await unlink(draft).catch(() => undefined)
    }
  }

  async #names(): Promise<readonly string[]> {
    return await readdir(this.#path).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw storageError(error, this.#path)
    })
  }

  #file(name: string): string {
    return join(
      this.#path,
      `${process.getBuiltinModule('node:crypto').createHash('sha256').update(name).digest('hex').slice(0, 32)}.json`,
    )
  }
}

/** The error for a directory that does not do what it has to. */
export function storageError(cause: unknown, path: string): OAuthError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  return new OAuthError('storage', `Sign-ins cannot be kept in ${path} (${code}).`, { cause })
}

async function makePrivate(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  // It may have been there before, readable by others.
  if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o700)
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
