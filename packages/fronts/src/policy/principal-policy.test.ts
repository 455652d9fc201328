import type { Principal } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import type { PolicyRule } from './policy-rule.ts'
import { createPrincipalPolicy, type PrincipalGrants } from './principal-policy.ts'
import { policyShape } from './policy-shape.ts'

const issuer = 'https://auth.example.com'
const served = { tools: { deny: ['danger'] }, prompts: {}, resources: {} }
const somebody = (id: string, scopes: readonly string[] = []): Principal => ({ id, authenticated: true, scopes })

function toolsOf(rules: readonly PolicyRule[], principal: Principal): PrincipalGrants['tools'][number] | undefined {
  return createPrincipalPolicy(served, rules)(principal).tools[1]
}

describe('rules about who may use what', () => {
  test('what any rule enables is enabled, what any disables is not', () => {
    const rules: PolicyRule[] = [
      { scopes: ['read'], enabledTools: ['get_*'] },
      { scopes: ['read', 'write'], enabledTools: ['put_*'], disabledTools: ['put_all'] },
      { principals: [`${issuer}#alice`], enabledTools: ['admin'] },
    ]
    const allow = (principal: Principal) => toolsOf(rules, principal)
    expect(allow(somebody('x', ['read']))).toEqual({ allow: ['get_*'], deny: [] })
    expect(allow(somebody('x', ['write', 'read']))).toEqual({ allow: ['get_*', 'put_*'], deny: ['put_all'] })
    expect(allow(somebody(`${issuer}#alice`))).toEqual({ allow: ['admin'], deny: [] })
    expect(allow(somebody(`${issuer}#alice2`))).toEqual({ allow: [], deny: [] })
    expect(allow({ id: 'local', authenticated: true })).toEqual({ allow: [], deny: [] })
  })

  test('what is served at all is not widened by any rule', () => {
    const { tools } = createPrincipalPolicy(served, [{ enabledTools: ['danger'] }])(somebody('x'))
    expect(tools).toEqual([served.tools, { allow: ['danger'], deny: [] }])
  })

  test('a rule that names nothing of a kind enables all of it, and whoever has no rule gets nothing of any', () => {
    const policy = createPrincipalPolicy(served, [{ principals: ['bearer:*'], enabledTools: ['a'] }])
    expect(policy(somebody('bearer:anna'))).toMatchObject({
      prompts: [{}, { allow: undefined }],
      resources: [{}, { allow: undefined }],
    })
    expect(policy(somebody(`${issuer}#bearer:anna`))).toEqual({
      tools: [served.tools, { allow: [], deny: [] }],
      prompts: [{}, { allow: [], deny: [] }],
      resources: [{}, { allow: [], deny: [] }],
    })
  })

  test('MC-AUTH-03: a rule for a program is not for a person who is called like it', () => {
    const rules: PolicyRule[] = [{ principals: [`${issuer}?client=robot`, String.raw`${issuer}\?client=b*`] }]
    const isAllowed = (id: string): boolean => toolsOf(rules, somebody(id))?.allow === undefined
    expect([`${issuer}?client=robot`, `${issuer}?client=bob`].map(isAllowed)).toEqual([true, true])
    expect([`${issuer}#client=robot`, `${issuer}#client=bob`].map(isAllowed)).toEqual([false, false])
  })

  test('the same rules give the same object, so that views are made once', () => {
    const policy = createPrincipalPolicy(served, [{ scopes: ['a'] }, { scopes: ['b'] }])
    expect(policy(somebody('x', ['a']))).toBe(policy(somebody('y', ['c', 'a'])))
    expect(policy(somebody('x', ['a']))).not.toBe(policy(somebody('x', ['b'])))
  })
})

test.each<[unknown, boolean]>([
  [[{ scopes: ['a'], enabledTools: ['get_*'] }], true],
  [[{ principals: [String.raw`a\\`] }], true],
  [[], false],
  [[{ scope: 'a' }], false],
  [[{ principals: ['a\\'] }], false],
  [[{ enabledTools: [''] }], false],
])('policy of a configuration: %j is good: %j', (value, good) => {
  expect(policyShape.policy.safeParse(value).success).toBe(good)
})
