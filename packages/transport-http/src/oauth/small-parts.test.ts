import { describe, expect, test } from 'vitest'
import { parseChallenges } from '../auth/challenge.ts'
import { authMethodOf, clientAuth } from './client-auth.ts'
import { guardedUrl } from './guarded-url.ts'
import { covers } from './resource.ts'
import { challengedScopes, parseScope, wantedScopes } from './scopes.ts'
import { issuerMetadataUrls, resourceMetadataUrls } from './well-known.ts'

describe('MC-AUTH-05: what a resource covers', () => {
  test.each([
    ['https://a.example/mcp', 'https://a.example/mcp', true, 'itself'],
    ['https://a.example', 'https://a.example/mcp', true, 'a resource without a path is the whole origin'],
    ['https://a.example/', 'https://a.example/mcp', true, 'with a slash too'],
    ['https://a.example/mcp', 'https://a.example/mcp/x', true, 'what is below'],
    ['https://a.example/mcp/', 'https://a.example/mcp', true, 'a slash at the end is no other path'],
    ['https://a.example/mcp', 'https://a.example/mcp2', false, 'a longer name is no path below'],
    ['https://a.example/mcp', 'https://a.example/', false, 'what is above'],
    ['https://a.example/mcp', 'http://a.example/mcp', false, 'another scheme'],
    ['https://a.example/mcp', 'https://a.example:8443/mcp', false, 'another port'],
    ['https://a.example/mcp', 'https://b.example/mcp', false, 'another host'],
    ['https://A.Example/mcp', 'https://a.example/mcp', true, 'a host has no case'],
    ['https://a.example/MCP', 'https://a.example/mcp', false, 'a path has'],
    ['https://a.example/mcp?t=1', 'https://a.example/mcp?t=1', true, 'the same query'],
    ['https://a.example/mcp?t=1', 'https://a.example/mcp?t=2', false, 'another query'],
    ['https://a.example/mcp#x', 'https://a.example/mcp', false, 'a resource has no fragment'],
    ['https://u:p@a.example/mcp', 'https://a.example/mcp', false, 'nor credentials'],
    ['urn:x', 'https://a.example/mcp', false, 'and is a URL of HTTP'],
  ])('%s, %s: %s (%s)', (resource, url, expected) => {
    expect(covers(resource, url)).toBe(expected)
  })
})

describe('a URL out of a document', () => {
  const remote = 'https://mcp.example/mcp'
  const local = 'http://127.0.0.1:3000/mcp'
  test.each([
    ['https://as.example/token', remote],
    ['https://as.example/token', local],
    ['http://localhost:4000/token', local],
    ['http://[::1]:4000/token', local],
    ['https://127.0.0.1:4000/token', local],
    ['https://10.1.2.3/token', 'https://10.0.0.5/mcp'],
    ['https://10.1.2.3/token', 'https://mcp.corp/mcp'],
    ['https://172.32.0.1/token', remote],
    ['https://[2606:4700::1]/token', remote],
    ['https://10.example/token', remote],
  ])('%s may be asked for %s', (url, server) => {
    expect(guardedUrl(url, 'x', server).href).toBe(new URL(url).href)
  })

  test.each([
    ['http://as.example/token', remote, 'is not https'],
    ['http://as.example/token', local, 'is not https'],
    ['http://127.0.0.1:22/', remote, 'is on this machine'],
    ['https://localhost/', remote, 'is on this machine'],
    ['https://[::1]/', remote, 'is on this machine'],
    ['http://127.1/', remote, 'is on this machine'],
    ['http://2130706433/', remote, 'is on this machine'],
    ['https://x.localhost/', remote, 'is on this machine'],
    ['http://169.254.169.254/latest/meta-data', remote, 'is in a private network'],
    ['https://localhost./', remote, 'is on this machine'],
    ['https://0.0.0.0/', remote, 'is on this machine'],
    ['https://[::]/', remote, 'is on this machine'],
    ['https://[::ffff:127.0.0.1]/', remote, 'is on this machine'],
    ['https://127.0.0.1/', 'https://10.0.0.5/mcp', 'is on this machine'],
    ['https://10.1.2.3/', remote, 'is in a private network'],
    ['https://172.31.0.1/', remote, 'is in a private network'],
    ['https://192.168.1.1/', remote, 'is in a private network'],
    ['https://100.100.0.1/', remote, 'is in a private network'],
    ['https://[fd00::1]/', remote, 'is in a private network'],
    ['https://[fe80::1]/', remote, 'is in a private network'],
    ['https://[::ffff:10.0.0.1]/', remote, 'is in a private network'],
    ['https://router/', remote, 'is in a private network'],
    ['https://printer.local/', remote, 'is in a private network'],
    ['http://169.254.169.254/latest/meta-data', local, 'is not https'],
    ['file:///etc/passwd', local, 'is not https'],
    ['javascript:alert(1)', local, 'is not https'],
    ['https://user:pass@as.example/', remote, 'holds credentials'],
    ['/token', remote, 'is no URL'],
  ])('%s may not be asked for %s: it %s', (url, server, reason) => {
    expect(() => guardedUrl(url, 'token_endpoint', server)).toThrow(reason)
  })

  test('credentials are not in the message', () => {
    const message = messageOf(() => guardedUrl('https://user:hunter2@as.example/?k=hunter2', 'x', remote))
    expect(message).toContain('https://as.example/')
    expect(message).not.toContain('hunter2')
  })
})

function messageOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    return String(error)
  }
  throw new Error('nothing was thrown')
}

describe('well-known places', () => {
  test('of a resource: with its path, then without', () => {
    expect(resourceMetadataUrls('https://a.example/x/mcp?y=1')).toEqual([
      'https://a.example/.well-known/oauth-protected-resource/x/mcp?y=1',
      'https://a.example/.well-known/oauth-protected-resource',
    ])
    expect(resourceMetadataUrls('https://a.example/')).toEqual([
      'https://a.example/.well-known/oauth-protected-resource',
    ])
  })

  test('of an issuer: in the order of the specification', () => {
    expect(issuerMetadataUrls('https://a.example/tenant1')).toEqual([
      'https://a.example/.well-known/oauth-authorization-server/tenant1',
      'https://a.example/.well-known/openid-configuration/tenant1',
      'https://a.example/tenant1/.well-known/openid-configuration',
    ])
    expect(issuerMetadataUrls('https://a.example/')).toEqual([
      'https://a.example/.well-known/oauth-authorization-server',
      'https://a.example/.well-known/openid-configuration',
    ])
  })
})

describe('scopes', () => {
  const nothing = { before: undefined, challenged: undefined, supported: undefined, offline: true, offered: undefined }
  test.each([
    ['nothing is said: none, not even offline_access', { ...nothing, offered: ['offline_access'] }, undefined],
    ['the challenge comes first', { ...nothing, challenged: ['a'], supported: ['b', 'c'] }, ['a']],
    ['else all that the resource supports', { ...nothing, supported: ['b', 'c'] }, ['b', 'c']],
    ['what was asked for before is kept', { ...nothing, before: ['a'], challenged: ['b', 'a'] }, ['a', 'b']],
    [
      'offline_access where it is offered',
      { ...nothing, challenged: ['a'], offered: ['a', 'offline_access'] },
      ['a', 'offline_access'],
    ],
    ['not where it is not', { ...nothing, challenged: ['a'], offered: ['a'] }, ['a']],
    ['nor for programs', { ...nothing, challenged: ['a'], offline: false, offered: ['offline_access'] }, ['a']],
  ])('%s', (_title, wanted, expected) => {
    expect(wantedScopes(wanted)).toEqual(expected)
  })

  test('are taken from the challenge that is ours', () => {
    expect(challengedScopes(parseChallenges('Basic realm="x", scope="no", Bearer scope="a  b"'))).toEqual(['a', 'b'])
    expect(challengedScopes(parseChallenges('Bearer realm="x"'))).toBeUndefined()
    expect(parseScope('  ')).toBeUndefined()
  })
})

describe('how a client shows who it is', () => {
  test.each([
    [{}, undefined, 'none'],
    [{ clientSecret: 's' }, undefined, 'client_secret_basic'],
    [{ clientSecret: 's' }, ['client_secret_post'], 'client_secret_post'],
    [{ clientSecret: 's' }, ['client_secret_post', 'client_secret_basic'], 'client_secret_basic'],
    [{ privateKeyPem: 'k' }, ['client_secret_basic'], 'private_key_jwt'],
    [{ clientSecret: 's', authMethod: 'none' as const }, undefined, 'none'],
  ])('%j where %j is taken: %s', (client, taken, expected) => {
    const metadata = {
      issuer: 'https://a.example',
      ...(taken !== undefined && { token_endpoint_auth_methods_supported: taken }),
    }
    expect(authMethodOf({ clientId: 'c', ...client }, metadata)).toBe(expected)
  })

  test('an id and a secret are written as forms are, and ordinary ones stay as they are', async () => {
    const server = { issuer: 'https://a.example' }
    const proofOf = async (clientId: string, clientSecret: string): Promise<string> => {
      const headers = new Headers()
      const auth = await clientAuth({ clientId, clientSecret }, server)
      await auth(server, { client_id: clientId }, new URLSearchParams(), headers)
      return atob(headers.get('authorization')?.replace('Basic ', '') ?? '')
    }
    expect(await proofOf('6f9619ff-8b86_x.y', 'abc-DEF_1.2')).toBe('6f9619ff-8b86_x.y:abc-DEF_1.2')
    expect(await proofOf('a:b', 'ü &')).toBe('a%3Ab:%C3%BC+%26')
  })
})
