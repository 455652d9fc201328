import type { Authorizer, AuthRefusal } from '@atenea/transport-http'
import { expect, test } from 'vitest'
import { LazyAuthorizer } from './lazy-authorizer.ts'

const request = { method: 'POST' as const, url: 'https://mcp.example.com/' }
const options = { signal: new AbortController().signal }
const refusal: AuthRefusal = { status: 401, challenges: [], sent: undefined }

function setup(mayKnow: boolean): { readonly lazy: LazyAuthorizer; readonly did: string[] } {
  const did: string[] = []
  let token = mayKnow ? 'kept' : undefined
  const real: Authorizer = {
    fields: () => (token === undefined ? {} : { authorization: token }),
    saw: ({ status }) => void did.push(`saw ${status}`),
    renew: async () => {
      did.push('renew')
      token = 'new'
      return await Promise.resolve(true)
    },
  }
  const make = async (): Promise<Authorizer> => {
    did.push('load')
    return await Promise.resolve(real)
  }
  return { lazy: new LazyAuthorizer(make, mayKnow), did }
}

test('nothing is loaded while there is nothing to send and the server wants nothing', () => {
  const { lazy, did } = setup(false)
  expect(lazy.fields(request, options)).toEqual({})
  lazy.saw({ status: 200, headers: {} }, request.url)
  expect(did).toEqual([])
})

test('a server that lets nobody in has it loaded once, and what it gets is sent from then on', async () => {
  const { lazy, did } = setup(false)
  lazy.saw({ status: 401, headers: {} }, request.url)
  const renewals = [lazy.renew(refusal, options), lazy.renew(refusal, options)]
  expect(await Promise.all(renewals)).toEqual([true, true])
  expect(did).toEqual(['load', 'renew', 'renew'])
  expect(lazy.fields(request, options)).toEqual({ authorization: 'new' })
  lazy.saw({ status: 200, headers: {} }, request.url)
  expect(did.at(-1)).toBe('saw 200')
})

test('what may be kept is sent with the first request', async () => {
  const { lazy, did } = setup(true)
  const fields = await Promise.all([lazy.fields(request, options), lazy.fields(request, options)])
  expect(fields).toEqual([{ authorization: 'kept' }, { authorization: 'kept' }])
  expect(did).toEqual(['load'])
})
