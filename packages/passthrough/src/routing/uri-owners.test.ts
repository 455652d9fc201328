import { JsonText } from '@atenea/mcpcompat'
import { describe, expect, test } from 'vitest'
import { resourceList, templateList } from '../lists/list-kind.ts'
import { makeOffer, type Offer } from '../lists/offer.ts'
import type { ListKind } from '../lists/list-kind.ts'
import { ownersOfTemplate, ownersOfUri } from './uri-owners.ts'

const offer = (kind: ListKind, keys: readonly string[]): Offer =>
  makeOffer(
    {
      items: keys.map((key) => ({
        key,
        text: new JsonText(`{"${kind.key}":${JSON.stringify(key)}}`),
        headerPlan: undefined,
      })),
      dropped: [],
    },
    { kind, allowed: undefined, nameOf: (own) => own, pins: undefined },
  )

const backend = (name: string, uris: readonly string[], templates: readonly string[] = []) => ({
  backend: name,
  resources: offer(resourceList, uris),
  templates: offer(templateList, templates),
})

describe('BR-306: whom a uri belongs to', () => {
  const offers = [
    backend('files', ['file:///a'], ['file:///{+path}']),
    backend('notes', ['note://1'], ['note://{id}', 'file:///notes/{id}.md']),
    backend('other', ['file:///a'], ['{scheme}://{anything}']),
  ]

  test.each([
    ['that list it, and no others', 'note://1', ['notes']],
    ['that list it, all of them, in the order of the configuration', 'file:///a', ['files', 'other']],
    ['whose template has more fixed characters first', 'file:///notes/x.md', ['notes', 'files', 'other']],
    ['with any template that fits', 'note://2', ['notes', 'other']],
    ['of the last resort', 'gopher://x', ['other']],
    ['none, when nothing fits', 'urn:x', []],
  ])('to those %s', (_what, uri, owners) => {
    expect(ownersOfUri(uri, offers)).toEqual(owners)
  })

  test('a template belongs to those that have exactly it', () => {
    expect(ownersOfTemplate('note://{id}', offers)).toEqual(['notes'])
    expect(ownersOfTemplate('note://{other}', offers)).toEqual([])
  })

  test('characters of globs in a template stand for themselves', () => {
    const odd = [backend('odd', [], ['x://*?\\{id}'])]
    expect(ownersOfUri('x://*?\\1', odd)).toEqual(['odd'])
    expect(ownersOfUri('x://ab\\1', odd)).toEqual([])
  })

  test('a hostile template and a hostile uri take no time', () => {
    const hostile = [backend('odd', [], [`x://${'{a}a'.repeat(50)}b`])]
    const started = performance.now()
    expect(ownersOfUri(`x://${'a'.repeat(20_000)}`, hostile)).toEqual([])
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  test('E13: prototype names are names', () => {
    expect(ownersOfUri('__proto__', offers)).toEqual([])
    expect(ownersOfUri('constructor', [backend('x', ['constructor'])])).toEqual(['x'])
  })
})
