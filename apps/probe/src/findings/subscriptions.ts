import type { FindingKinds } from './kind.ts'

/** `subscriptions/listen`. */
export const subscriptionFindings = {
  'listen-unserved': {
    level: 'error',
    requirements: ['MC-DISC-10', 'A-31'],
    title: 'Changes are advertised, and subscriptions/listen is refused',
    repair: 'Serve subscriptions/listen, or advertise neither listChanged nor subscribe.',
  },
  'listen-no-acknowledgement': {
    level: 'error',
    requirements: ['MC-SUB-03'],
    title: 'A subscription is not acknowledged',
    repair: 'Send notifications/subscriptions/acknowledged as soon as the subscription stands.',
  },
  'listen-order': {
    level: 'error',
    requirements: ['MC-SUB-03'],
    title: 'Something is delivered for a subscription before its acknowledgement',
    repair: 'Send notifications/subscriptions/acknowledged before anything else of the subscription.',
  },
  'listen-id': {
    level: 'error',
    requirements: ['MC-SUB-07', 'MC-META-09'],
    title: 'The acknowledgement does not carry the id of its listen request',
    repair:
      'Put the request id, unchanged in value and type, under io.modelcontextprotocol/subscriptionId in params._meta.',
  },
  'listen-filter': {
    level: 'error',
    requirements: ['MC-SUB-05', 'MC-SUB-02'],
    title: 'The acknowledgement grants something that was not asked for or is not advertised',
    repair: 'Acknowledge the part of the requested filter that will be honoured, and nothing else.',
  },
  'listen-ended': {
    level: 'error',
    requirements: ['MH-SSE-04', 'MC-SUB-11'],
    title: 'A subscription ends by itself right after it began',
    repair: 'Keep the stream of subscriptions/listen open until the client or a shutdown ends it.',
  },
  'listen-not-stream': {
    level: 'error',
    requirements: ['MH-SSE-04'],
    title: 'subscriptions/listen is not answered with an event stream',
    repair: 'Answer it with text/event-stream and keep the stream open.',
  },
  'listen-after-cancel': {
    level: 'error',
    requirements: ['MC-CANC-07', 'A-44'],
    title: 'Something is still written for a subscription that was cancelled',
    repair: 'Write nothing more for a request once its notifications/cancelled was read.',
  },
} as const satisfies FindingKinds
