import { describe, expect, test } from 'vitest'
import type { Call } from './contract/call.ts'
import type { JsonObject } from './jsonrpc/json.ts'
import {
  acknowledgement,
  advertisedListChanges,
  filterAdmits,
  grantFilter,
  parseListenFilter,
} from './subscriptions.ts'

const all = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
}
const everything = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['a:1', 'a:2'],
}

describe('MC-SUB-01, A-31: the filter of a listen', () => {
  test.each([
    [{}],
    [{ toolsListChanged: false }],
    [{ resourceSubscriptions: [] }],
    [everything],
    [{ later: { anything: 1 } }],
  ])('%j is one', (notifications) => {
    expect(parseListenFilter({ notifications })).toEqual(notifications)
  })

  test.each<[JsonObject]>([
    [{}],
    [{ notifications: null }],
    [{ notifications: [] }],
    [{ notifications: 'tools' }],
    [{ notifications: { toolsListChanged: 1 } }],
    [{ notifications: { promptsListChanged: null } }],
    [{ notifications: { resourcesListChanged: 'true' } }],
    [{ notifications: { resourceSubscriptions: 'a:1' } }],
    [{ notifications: { resourceSubscriptions: ['a:1', 2] } }],
    [{ notifications: { resourceSubscriptions: { 0: 'a:1' } } }],
  ])('%j is refused with -32602', (params) => {
    expect(() => parseListenFilter(params)).toThrow(expect.objectContaining({ code: -32602 }))
  })

  test('no params at all are refused as well', () => {
    expect(() => parseListenFilter(undefined)).toThrow(expect.objectContaining({ code: -32602 }))
  })
})

describe('MC-SUB-02, MC-SUB-05, MC-RES-14: what is granted', () => {
  test.each<[JsonObject, JsonObject, JsonObject, string]>([
    [everything, all, everything, 'all of it'],
    [everything, {}, {}, 'nothing'],
    [{ toolsListChanged: false, promptsListChanged: true }, all, { promptsListChanged: true }, 'false is not wanted'],
    [everything, { tools: {}, prompts: { listChanged: false } }, {}, 'advertised without listChanged'],
    [
      everything,
      { resources: { subscribe: true } },
      { resourceSubscriptions: ['a:1', 'a:2'] },
      'subscribe without listChanged',
    ],
    [everything, { resources: { listChanged: true } }, { resourcesListChanged: true }, 'listChanged without subscribe'],
    [{ resourceSubscriptions: [] }, all, {}, 'no uri'],
    [{}, all, {}, 'an empty filter'],
    [everything, { tools: { listChanged: 'true' }, resources: { subscribe: 1 } }, {}, 'no booleans'],
    [{ later: true }, { later: { listChanged: true } }, {}, 'a type that is not known here'],
  ])('of %j with %j: %j (%s)', (filter, capabilities, granted) => {
    expect(grantFilter(filter, capabilities)).toEqual(granted)
  })

  test('MC-SUB-03: the acknowledgement names it', () => {
    expect(acknowledgement({ toolsListChanged: true })).toEqual({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true } },
    })
  })

  test('B14: nothing is listened to that is not advertised', () => {
    expect(
      advertisedListChanges({ tools: { listChanged: true }, prompts: {}, resources: { subscribe: true } }),
    ).toEqual({
      toolsListChanged: true,
    })
    expect(advertisedListChanges({})).toEqual({})
  })
})

describe('MC-SUB-02, MC-SUB-15, MC-SUB-17, A-32: what is delivered', () => {
  const updated = (uri?: string): { method: string; params: JsonObject } => ({
    method: 'notifications/resources/updated',
    params: uri === undefined ? {} : { uri },
  })
  test.each<[JsonObject, Call, string[], boolean, string]>([
    [everything, { method: 'notifications/tools/list_changed', params: {} }, [], true, 'wanted'],
    [{}, { method: 'notifications/tools/list_changed', params: {} }, [], false, 'not wanted'],
    [{ promptsListChanged: true }, { method: 'notifications/prompts/list_changed', params: {} }, [], true, 'wanted'],
    [
      { promptsListChanged: true },
      { method: 'notifications/resources/list_changed', params: {} },
      [],
      false,
      'another',
    ],
    [everything, updated('a:1'), [], true, 'a subscribed uri'],
    [everything, updated('a:1/x'), [], false, 'a uri that only looks like a part'],
    [everything, updated('a:1/x'), ['a:1'], true, 'a part of a subscribed one'],
    [everything, updated('a:3'), ['a:4'], false, 'a part of another one'],
    [everything, updated(), [], false, 'no uri'],
    [{}, updated('a:1'), [], false, 'nothing subscribed'],
    [everything, { method: 'notifications/progress', params: {} }, [], false, 'progress'],
    [everything, { method: 'notifications/message', params: {} }, [], false, 'log output'],
  ])('%j admits %j with parents %j: %s (%s)', (filter, notice, parents, admitted) => {
    expect(filterAdmits(filter, notice, parents)).toBe(admitted)
  })
})
