import { expect, test } from 'vitest'
import { flag } from './flags.ts'
import { renderHelp } from './help.ts'

const text = renderHelp({
  summary: 'atenea-example: shows help.',
  usage: ['atenea-example [options]', 'atenea-example status [PATH]'],
  sections: [
    {
      title: 'Options',
      flags: {
        socket: flag.texts('PATH', 'listen on a unix socket'),
        'log-level': flag.choice(['silent', 'error', 'warning', 'info', 'debug'], 'how much is logged', {
          default: 'info',
        }),
        help: flag.switch(`this text, ${'which goes on and on '.repeat(6).trim()}`, { short: 'h' }),
      },
    },
    {
      title: 'Exit codes',
      terms: [
        ['0', 'fine'],
        ['130', 'interrupted'],
      ],
    },
    { title: 'Examples', lines: ['atenea-example --socket /tmp/x'] },
  ],
})

test('help names every flag with its value, its default and whether it may be repeated', () => {
  expect(text).toBe(`atenea-example: shows help.

Usage: atenea-example [options]
       atenea-example status [PATH]

Options:
  --socket PATH                   listen on a unix socket (may be repeated)
  --log-level silent|error|warning|info|debug
                                  how much is logged (default: info)
  -h, --help                      this text, which goes on and on which goes on and on which goes on
                                  and on which goes on and on which goes on and on which goes on and
                                  on

Exit codes:
  0    fine
  130  interrupted

Examples:
  atenea-example --socket /tmp/x
`)
})

test('no line is wider than a terminal of 100 columns', () => {
  expect(text.split('\n').filter((line) => line.length > 100)).toEqual([])
})
