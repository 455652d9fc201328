import { readFile, stat } from 'node:fs/promises'
import { TransportError } from '@atenea/mcpcompat'
import type { AuthFields, Authorizer } from '../../authorizer.ts'

/**
 * An access token that something else keeps in a file, as platforms do for their workloads: read anew when the file has changed, so that it can
 * be replaced while we run.
 */
export function createTokenFileAuthorizer(path: string): Authorizer {
  let readAt: number | undefined
  let fields: AuthFields = {}
  const load = async (): Promise<AuthFields> => {
    try {
      const found = await stat(path)
      // what reads a pipe waits for somebody to write, and cannot be stopped
      if (!found.isFile())
        throw new TransportError('auth', `The access token cannot be read: ${path} is no regular file.`)
      const { mtimeMs } = found
      if (mtimeMs !== readAt) {
        const token = (await readFile(path, 'utf8')).trim()
        if (!/^[\w\-.~+/]+=*$/.test(token)) throw new TransportError('auth', `The file ${path} holds no access token.`)
        fields = { authorization: `Bearer ${token}` }
        readAt = mtimeMs
      }
      return fields
    } catch (error) {
      if (TransportError.is(error)) throw error
      const reason = error instanceof Error ? error.message : String(error)
      throw new TransportError('auth', `The access token cannot be read: ${reason}`, { cause: error })
    }
  }
  return {
    fields: load,
    renew: async ({ status, sent }) => {
      if (status !== 401) return false
      readAt = undefined
      return (await load())['authorization'] !== sent
    },
  }
}
