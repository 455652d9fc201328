import type { FindingKinds } from './kind.ts'

/** Single messages: their form, ids, results and errors. */
export const messageFindings = {
  'request-unanswered': {
    level: 'error',
    requirements: ['MC-MSG-04', 'MC-MSG-05'],
    title: 'A request was not answered in time',
    repair: 'Answer every request, with an error if need be. If the server is only slow, give --timeout-ms.',
  },
  'checks-cut-short': {
    level: 'note',
    requirements: ['MC-TMO-04'],
    title: 'The server answers so slowly that not everything was checked',
    repair: 'Give a longer --timeout-ms, which lengthens the time for all checks too, or see why the server is slow.',
  },
  'response-malformed': {
    level: 'error',
    requirements: ['MC-MSG-01', 'MC-MSG-12'],
    title: 'A response is no valid JSON-RPC 2.0 response',
    repair: 'Send {"jsonrpc":"2.0","id":…} with exactly one of result (an object) and error.',
  },
  'error-malformed': {
    level: 'error',
    requirements: ['MC-MSG-05'],
    title: 'An error lacks an integer code or a string message',
    repair: 'Send errors as {"code": integer, "message": string}.',
  },
  'id-changed': {
    level: 'error',
    requirements: ['MC-MSG-04', 'MC-MSG-06'],
    title: 'A response carries another id than its request, so that clients cannot match it',
    repair: 'Echo the id as it came, with its JSON type: 1, "1" and 0 are three ids.',
  },
  'id-respelled': {
    level: 'warning',
    requirements: ['MC-MSG-04', 'A-22'],
    title: 'An integer id comes back in another form, such as 1.0 for 1, which clients with typed numbers cannot match',
    repair: 'Write ids as they came: keep integers integers.',
  },
  'response-unasked': {
    level: 'error',
    requirements: ['MC-MSG-04', 'MS-MSG-02'],
    title: 'A response answers no request',
    repair: 'Write exactly one response for each request, with its id.',
  },
  'id-null': {
    level: 'warning',
    requirements: ['MC-MSG-06', 'A-11'],
    title: 'An error for a message whose id cannot be read says "id": null in place of leaving the id out',
    repair: 'Leave the member out; JSON-RPC itself asks for null, the schema of MCP does not allow it.',
  },
  'id-rounded': {
    level: 'error',
    requirements: ['MC-MSG-04', 'A-22'],
    title: 'A large integer id comes back as a different number',
    repair: 'Echo ids as they came, or refuse integers beyond 2^53-1 with -32600 and without an id.',
  },
  'result-type-missing': {
    level: 'error',
    requirements: ['MC-RT-01', 'A-08'],
    title: 'A modern result has no resultType',
    repair: 'Add "resultType": "complete" to every final result.',
  },
  'result-type-unknown': {
    level: 'error',
    requirements: ['MC-RT-02', 'MC-RT-04'],
    title: 'A modern result has a resultType that this method cannot have, so that clients must drop it',
    repair: 'Use "complete", or "input_required" for tools/call, prompts/get and resources/read.',
  },
  'cache-ttl': {
    level: 'error',
    requirements: ['MC-CACHE-01', 'MC-CACHE-03', 'MC-DISC-08'],
    title: 'A cacheable result has no usable ttlMs',
    repair: 'Add ttlMs, an integer of at least 0; 0 means that the result is stale at once.',
  },
  'cache-scope': {
    level: 'error',
    requirements: ['MC-CACHE-01', 'MC-CACHE-04', 'MC-DISC-08'],
    title: 'A cacheable result has no usable cacheScope',
    repair: 'Add cacheScope, "public" or "private"; "private" when in doubt.',
  },
  'cache-scope-pages': {
    level: 'error',
    requirements: ['MC-CACHE-17'],
    title: 'The pages of one list have different cacheScope values',
    repair: 'Give all pages of a list the same cacheScope.',
  },
  'meta-key': {
    level: 'error',
    requirements: ['MC-META-01', 'MC-META-02', 'MC-META-05', 'LG-META-01'],
    title: 'A key of _meta does not follow the grammar',
    repair: 'Name keys like com.example/name: labels of letters, digits and hyphens, one slash, a name.',
  },
  'server-request': {
    level: 'error',
    requirements: ['MC-MSG-09', 'MH-SSE-02', 'MS-MSG-02'],
    title: 'The server sends a request to a modern client',
    repair: 'Ask for input with an input_required result; requests to clients exist in the legacy era alone.',
  },
  'log-unasked': {
    level: 'error',
    requirements: ['MC-LOG-02'],
    title: 'Log messages are sent for a request that did not ask for them',
    repair: 'Send notifications/message only for requests with io.modelcontextprotocol/logLevel in _meta.',
  },
  'progress-unasked': {
    level: 'error',
    requirements: ['MC-PROG-03', 'LG-PROG-02'],
    title: 'Progress is reported for a token that no open request gave',
    repair: 'Send notifications/progress only for requests with _meta.progressToken, with that token unchanged.',
  },
  'notification-unasked': {
    level: 'error',
    requirements: ['MC-SUB-02', 'MH-SSE-01'],
    title: 'A notification arrives that no subscription asked for',
    repair: 'Send list changes and resource updates on subscriptions/listen streams that asked for them.',
  },
  'notification-answered': {
    level: 'error',
    requirements: ['MC-MSG-08', 'LG-MSG-04'],
    title: 'A notification is answered',
    repair: 'Write nothing in answer to a message without an id, also when it is not understood.',
  },
  'meta-unrequired': {
    level: 'error',
    requirements: ['MC-REQ-05', 'MC-REQ-06'],
    title: 'A modern request without its required _meta members is not refused with -32602',
    repair:
      'Refuse requests whose _meta lacks io.modelcontextprotocol/protocolVersion or …/clientCapabilities with -32602 (on HTTP with status 400).',
  },
  'client-info-required': {
    level: 'error',
    requirements: ['MC-REQ-07'],
    title: 'A request without clientInfo is refused, though it is optional',
    repair: 'Serve requests whose _meta has no io.modelcontextprotocol/clientInfo.',
  },
  'unknown-method-code': {
    level: 'error',
    requirements: ['MC-ERR-12'],
    title: 'An unknown method is not answered with -32601',
    repair: 'Answer methods that are not served with the error -32601.',
  },
  'unknown-name-code': {
    level: 'warning',
    requirements: ['MC-ERR-13', 'MC-TOOL-11', 'LG-TOOL-04', 'MC-PRM-04'],
    title: 'A tool or prompt that does not exist is not answered with -32602',
    repair: 'Answer unknown names with the error -32602; a result with isError is for failures of a tool that exists.',
  },
  'resource-missing-code': {
    level: 'error',
    requirements: ['MC-RES-03', 'MC-RES-04', 'LG-RES-03'],
    title: 'A resource that does not exist is not reported as an error of its own kind',
    repair: 'Answer with -32602 and data.uri (legacy: -32002), never with an empty result.',
  },
  'resource-missing-served': {
    level: 'warning',
    requirements: ['MC-RES-03', 'LG-RES-03'],
    title: 'A resource that nobody offers is answered with contents, so that clients cannot tell what exists',
    repair:
      'Answer URIs that lead nowhere with an error, -32602 with data.uri (legacy: -32002), not with a text about it.',
  },
  'error-code-undefined': {
    level: 'error',
    requirements: ['MC-ERR-04'],
    title: 'An error has a code of the reserved range that the specification does not define',
    repair: 'Use the codes of the specification, or codes outside -32768..-32000 for your own errors.',
  },
  'error-code-legacy': {
    level: 'error',
    requirements: ['MC-ERR-08'],
    title: 'A modern answer uses an error code of the legacy era',
    repair: 'Use -32602 in place of -32002; -32042 does not exist any more.',
  },
  'error-code-old-range': {
    level: 'warning',
    requirements: ['MC-ERR-02'],
    title: 'An error has a code from -32000..-32019, to which no client attaches a meaning',
    repair:
      'Use the codes of the specification: -32600 for invalid messages, -32602 for parameters, -32603 for failures.',
  },
  'not-utf8': {
    level: 'error',
    requirements: ['MC-MSG-02'],
    title: 'The server sends bytes that are not UTF-8',
    repair: 'Encode every message as UTF-8.',
  },
  'ping-unserved': {
    level: 'error',
    requirements: ['LG-PING-01'],
    title: 'A legacy ping is not answered with an empty result',
    repair: 'Answer ping with {}.',
  },
} as const satisfies FindingKinds
