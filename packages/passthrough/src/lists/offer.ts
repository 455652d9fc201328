import type { AllowList, HeaderPlan, JsonText, JsonValue } from '@atenea/mcpcompat'
import { replaceMember } from '@atenea/mcpcompat/transport'
import type { BackendPins } from '../pins/lock.ts'
import { judgePin } from '../pins/lock.ts'
import type { DroppedItem, ListItem } from './list-items.ts'
import type { ListKind } from './list-kind.ts'

/** One thing that a client may see and use. */
export interface Offered {
  /** The backend's own name of it. */
  readonly own: string
  /** What clients call it. */
  readonly name: string
  /** How it stands in lists. */
  readonly text: JsonText
  readonly headerPlan: HeaderPlan | undefined
}

/** What a backend offers of one kind, after everything that the configuration says about it. */
export interface Offer {
  readonly items: readonly Offered[]
  /** Everything that was listed is offered as it came. */
  readonly isWhole: boolean
  /** By the name that clients use. */
  readonly byName: ReadonlyMap<string, Offered>
  /** What pins forbid, by the name that clients use, with the reason that they are told. */
  readonly refused: ReadonlyMap<string, string>
  readonly dropped: readonly DroppedItem[]
  /** Everything that the backend listed and that can be used, by its own names, allowed or not. */
  readonly definitions: ReadonlyMap<string, JsonText>
}

/** What the configuration says about one list of one backend. */
export interface OfferRules {
  readonly kind: ListKind
  readonly allowed: AllowList | undefined
  readonly nameOf: (own: string) => string
  /** Pins of the backend: what is not pinned, or has changed, is not offered. `undefined`: nothing is pinned. */
  readonly pins: { readonly backend: BackendPins | undefined } | undefined
}

export function makeOffer(
  { items, dropped }: { readonly items: readonly ListItem[]; readonly dropped: readonly DroppedItem[] },
  rules: OfferRules,
): Offer {
  const { kind, allowed, nameOf, pins } = rules
  const byName = new Map<string, Offered>()
  const refused = new Map<string, string>()
  const faults = [...dropped]
  const definitions = new Map<string, JsonText>()
  for (const { key: own, text, headerPlan } of items) {
    definitions.set(own, text)
    if (allowed?.allows(own) === false) continue
    const name = nameOf(own)
    const pinned = pins === undefined ? 'pinned' : judgePin(pins.backend, own, text)
    if (pinned !== 'pinned') {
      const reason = pinned === 'changed' ? 'its definition is not the one that is pinned' : 'it is not pinned'
      refused.set(name, reason)
      faults.push({ name: own.slice(0, 128), reason })
    } else if (byName.has(name)) {
      faults.push({ name: own.slice(0, 128), reason: `another ${kind.noun} has the name ${JSON.stringify(name)}` })
    } else {
      byName.set(name, { own, name, text: name === own ? text : renamed(kind, text, name), headerPlan })
    }
  }
  const offered = [...byName.values()]
  const isWhole =
    dropped.length === 0 && offered.length === items.length && offered.every(({ name, own }) => name === own)
  return { items: offered, isWhole, byName, refused, dropped: faults, definitions }
}

function renamed(kind: ListKind, text: JsonText, name: JsonValue): JsonText {
  return replaceMember(text, kind.key, JSON.stringify(name))
}
