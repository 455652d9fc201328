import { definePrompt } from '@atenea/core'
import { words } from './words.ts'

const tones = ['plain', 'friendly', 'formal', 'playful'] as const
const languages = 'en es pt-BR fr de it nl pl ru uk tr ar hi th vi ko ja zh-Hans zh-Hant'.split(' ')

/** `draft_post`: a post with its facets, as a record that can be written as it is. */
export const draftPost = definePrompt({
  name: 'draft_post',
  title: 'Draft a post with facets',
  description:
    'Drafts an app.bsky.feed.post within the limits of its lexicon, with facets for its links, tags and mentions, and gives the finished record ' +
    'with its CID.',
  arguments: {
    topic: {
      description: 'What the post should say, with any links, tags and handles that it should hold.',
      required: true,
    },
    tone: { description: `Tone: ${tones.join(', ')}. Plain by default.` },
    language: { description: 'Language tag (BCP 47). English by default.' },
  },
  complete: { tone: words(tones), language: words(languages) },
  handler: ({ topic, tone = 'plain', language = 'en' }) => draftText(topic, tone, language),
})

function draftText(topic: string, tone: string, language: string): string {
  return `Draft a Bluesky post. Language: ${language}. Tone: ${tone}. It should say:

<topic>
${topic}
</topic>

1. Write the text: at most 300 graphemes and 3,000 UTF-8 bytes. Links may be shortened in the text only if a facet carries the whole address.
2. Call parse_facets with exactly that text. Put its "facets" into the record unchanged. For each entry of "mentions" find the DID of the handle if you can, and add a facet with {"$type": "app.bsky.richtext.facet#mention", "did": "<DID>"} at its index; otherwise leave the mention as text and say so.
3. Build the record: {"$type": "app.bsky.feed.post", "text": …, "facets": …, "langs": ["${language}"], "createdAt": "<now, ISO 8601 in UTC>"}. Leave out what is empty.
4. Call create_record_cid with the record, to check that it is valid.

Show the text, then the record as JSON, then its CID. Do not publish anything.`
}
