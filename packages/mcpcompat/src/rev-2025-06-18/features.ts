import { legacyRevision } from '../revisions.ts'

/**
 * What a legacy revision can carry. The revisions share one vocabulary and differ in these points only. What a revision
 * cannot carry is either said in another way or left out; members that it merely does not know are harmless and stay.
 */
export interface LegacyFeatures {
  /** Content blocks of type `audio`. */
  readonly audio: boolean
  /** Content blocks of type `resource_link`. */
  readonly resourceLinks: boolean
  /** `structuredContent` and `outputSchema`. */
  readonly structuredContent: boolean
  /** The capability `completions`; before it there was only the method. */
  readonly completionsCapability: boolean
  /** `form`: elicitation without modes. `modes`: with `mode` and url elicitation. */
  readonly elicitation: 'none' | 'form' | 'modes'
  /** Fields of a form with a title for each choice (`oneOf`), or with several choices. */
  readonly choiceTitles: boolean
  /** Sampling with `tools`, and with several content blocks in one message. */
  readonly samplingTools: boolean
  /** SSE streams that begin with an event which has an id and no data, so that a client can resume before the first message. */
  readonly primedStreams: boolean
}

const features20250618: LegacyFeatures = {
  audio: true,
  resourceLinks: true,
  structuredContent: true,
  completionsCapability: true,
  elicitation: 'form',
  choiceTitles: false,
  samplingTools: false,
  primedStreams: false,
}

const features20250326: LegacyFeatures = {
  ...features20250618,
  resourceLinks: false,
  structuredContent: false,
  elicitation: 'none',
}

const byRevision: ReadonlyMap<string, LegacyFeatures> = new Map([
  [
    '2025-11-25',
    { ...features20250618, elicitation: 'modes', choiceTitles: true, samplingTools: true, primedStreams: true },
  ],
  [legacyRevision, features20250618],
  ['2025-03-26', features20250326],
  ['2024-11-05', { ...features20250326, audio: false, completionsCapability: false }],
])

/** The features of one revision. A `RangeError` for a revision that is not legacy or not known. */
export function featuresOf(revision: string): LegacyFeatures {
  const features = byRevision.get(revision)
  if (features === undefined) throw new RangeError(`${revision} is not a known legacy revision`)
  return features
}
