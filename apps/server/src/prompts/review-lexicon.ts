import { definePrompt } from '@atenea/core'
import type { LexiconReport } from '../tools/lexicon/validate-lexicon.ts'
import { fencedJson } from './fenced.ts'
import { parseArgument } from './parse-argument.ts'
import { words } from './words.ts'

const focuses = ['everything', 'correctness', 'naming', 'evolution', 'documentation'] as const

/** `review_lexicon`: a careful review of a lexicon before it is published, with what the validator found. */
export const reviewLexicon = definePrompt({
  name: 'review_lexicon',
  title: 'Review a lexicon',
  description:
    'Reviews an AT Protocol lexicon before it is published: what the validator finds, then naming, room for evolution and documentation by the ' +
    'lexicon style guide.',
  arguments: {
    lexicon: { description: 'The lexicon document, as JSON text.', required: true },
    focus: { description: `What to look at: ${focuses.join(', ')}. Everything by default.` },
  },
  complete: { focus: words(focuses) },
  handler: async ({ lexicon, focus = 'everything' }) => {
    const document = parseArgument('lexicon', lexicon)
    const { validateLexicon } = await import('../tools/lexicon/validate-lexicon.ts')
    return reviewText(lexicon, validateLexicon(document), focus)
  },
})

function reviewText(lexicon: string, report: LexiconReport, focus: string): string {
  return `Review this AT Protocol lexicon. Look at: ${focus}.

${fencedJson(lexicon)}

The validator says: ${report.valid ? 'it is valid.' : 'it is NOT valid.'}
${findings('Error', report.errors)}${findings('Warning', report.warnings)}
Work through these points as far as they belong to the focus:

1. Correctness. For each error above say what was probably meant and give the corrected definition. Check the result with validate_lexicon_schema.
2. Naming. lowerCamelCase names; singular nouns for records, verb and noun for queries and procedures; kebab-case for known values; no name that clashes with a group of the same NSID.
3. Evolution. Published lexicons can gain optional fields only. Question every required field, every closed union and every enum (knownValues stays open). Prefer arrays of objects to arrays of plain values.
4. Limits. Strings without a format need maxLength (bytes), and maxGraphemes where people read them, with 10 to 20 bytes for each grapheme; arrays need maxLength.
5. References. DIDs rather than handles in records; com.atproto.repo.strongRef for links to records; "at-identifier" for accounts in parameters.
6. Documentation. A description for main and for each field whose meaning is not plain from its name.

End with the whole corrected lexicon, or say that nothing needs to change.`
}

function findings(kind: string, list: LexiconReport['errors']): string {
  return list.map(({ path, message }) => `- ${kind} at ${path === '' ? 'the document' : path}: ${message}\n`).join('')
}
