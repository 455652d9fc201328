import { describe, expect, test } from 'vitest'
import { everyReport } from '../../../test/_util/every-report.ts'
import { listOf, runOf } from '../../../test/_util/sample-reports.ts'
import { html } from './markup.ts'
import { runHtml } from './page.ts'

describe('markup', () => {
  test('what is put into it is escaped, in text and in attributes, and made visible where it could hide', () => {
    expect(html`<a title="${'"\'<>&'}">${'<b>\u0000\u202e\ud800'}</a>`.text).toBe(
      '<a title="&#34;&#39;&#60;&#62;&#38;">&#60;b&#62;\\u0000\\u202e\ufffd</a>',
    )
  })

  test('markup within is kept, lists are joined, and nothing is nothing', () => {
    expect(html`<ul>${[1, 'a&b'].map((item) => html`<li>${item}</li>`)}${undefined}</ul>`.text).toBe(
      '<ul><li>1</li><li>a&#38;b</li></ul>',
    )
  })

  test.each(everyReport)(
    'a page of %s has no element and no attribute that its text could have brought',
    (_name, report) => {
      for (const page of [runHtml(runOf(report)), runHtml(listOf(report))]) {
        expect(page).not.toMatch(/<(?:script|img|iframe|object|link|base|form)\b/i)
        expect(page).not.toMatch(/<[^>]*\son\w+\s*=/i)
        expect(page).not.toMatch(/(?:src|href)="(?!#)/)
      }
    },
  )
})
