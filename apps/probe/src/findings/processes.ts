import type { FindingKinds } from './kind.ts'

/** Processes, their streams, and connections. */
export const processFindings = {
  'stdout-noise': {
    level: 'error',
    requirements: ['MS-FRM-02', 'LG-STDIO-01', 'D5'],
    title: 'Lines that are no MCP messages are printed on stdout; some clients end the connection there',
    repair: 'Write logs and banners to stderr.',
  },
  'stdout-content-length': {
    level: 'error',
    requirements: ['MS-FRM-01', 'D7'],
    title: 'Messages are framed with Content-Length headers, as language servers do',
    repair: 'Write each message as one line, ended by a line feed.',
  },
  'line-too-long': {
    level: 'error',
    requirements: ['MS-FRM-01', 'D8'],
    title: 'A line is longer than any client reads',
    repair: 'End every message with a line feed, and keep messages below 16 MiB.',
  },
  'exit-at-eof': {
    level: 'warning',
    requirements: ['MS-LIFE-02', 'D10'],
    title: 'The process does not end when its input ends, so that clients leave orphans behind',
    repair: 'Exit when stdin ends, also while timers or connections are open.',
  },
  'exit-code': {
    level: 'note',
    requirements: ['MS-LIFE-02', 'D10'],
    title: 'The process ends with a failure when its input ends',
    repair: 'Exit with code 0 at the end of stdin.',
  },
  'eof-drops-answers': {
    level: 'warning',
    requirements: ['MS-LIFE-02', 'D11'],
    title: 'A request that came right before the end of the input is not answered',
    repair: 'Answer what was read before exiting.',
  },
  'garbage-fatal': {
    level: 'error',
    requirements: ['MC-MSG-15', 'D5'],
    title: 'One line that is no JSON stops the server',
    repair: 'Answer it with -32700, or ignore it, and read on.',
  },
  'connection-broken': {
    level: 'error',
    requirements: ['MC-STL-03'],
    title: 'The server ends, or breaks the connection, in the middle of the conversation',
    repair: 'See its log; a request, whatever it holds, must not end the server.',
  },
} as const satisfies FindingKinds
