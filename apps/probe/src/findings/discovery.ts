import type { FindingKinds } from './kind.ts'

/** Discovery, the handshake, and which era answers what. */
export const discoveryFindings = {
  'discover-unserved': {
    level: 'error',
    requirements: ['MC-DISC-01'],
    title: 'Modern requests are served, but server/discover is not, so that clients take the server for a legacy one',
    repair: 'Implement server/discover; every modern server must.',
  },
  'discover-versions': {
    level: 'error',
    requirements: ['MC-DISC-04'],
    title: 'supportedVersions of the discovery result is no array of strings',
    repair: 'Answer server/discover with supportedVersions, an array of strings that names every revision served.',
  },
  'discover-no-version': {
    level: 'error',
    requirements: ['MC-DISC-04', 'MC-DISC-10'],
    title: 'The discovery result lists no revision at all, so that no client can go on',
    repair: 'List in supportedVersions every revision that is served.',
  },
  'discover-unstable': {
    level: 'warning',
    requirements: ['MC-DISC-10'],
    title: 'Two discoveries, one after the other, differ in their revisions or capabilities',
    repair: 'Answer discovery from one source; behind a balancer, bring all servers to one state.',
  },
  'discover-capabilities': {
    level: 'error',
    requirements: ['MC-DISC-05'],
    title: 'capabilities of the discovery result is no object',
    repair: 'Answer server/discover with capabilities, an object; {} when there are none.',
  },
  'discover-instructions': {
    level: 'error',
    requirements: ['MC-DISC-06'],
    title: 'instructions of the discovery result is no string',
    repair: 'Send instructions as one string, or leave the member out.',
  },
  'discover-server-info': {
    level: 'warning',
    requirements: ['MC-DISC-07', 'MC-META-10'],
    title: 'The discovery result does not name the server in _meta',
    repair: 'Put {name, version} under io.modelcontextprotocol/serverInfo in result._meta.',
  },
  'discover-top-level-info': {
    level: 'warning',
    requirements: ['MC-DISC-07'],
    title: 'The discovery result has serverInfo at its top level, where no modern client looks',
    repair: 'Move serverInfo into result._meta under io.modelcontextprotocol/serverInfo.',
  },
  'discover-version-refused': {
    level: 'error',
    requirements: ['MC-DISC-10', 'A-25'],
    title: 'A revision that discovery lists is refused when it is used',
    repair: 'List in supportedVersions exactly the revisions that are served.',
  },
  'capability-shape': {
    level: 'error',
    requirements: ['MC-DISC-05', 'LG-CAP-01'],
    title: 'A capability has a form that the schema does not know',
    repair: 'Declare each capability as an object, and listChanged and subscribe in it as booleans.',
  },
  'capability-extension': {
    level: 'error',
    requirements: ['MC-EXT-01', 'MC-EXT-04'],
    title: 'An extension is declared under a malformed identifier or with a value that is no object',
    repair: 'Use a prefixed identifier such as com.example/feature with an object as its value.',
  },
  'capability-unserved': {
    level: 'error',
    requirements: ['MC-DISC-10', 'MC-TOOL-01', 'MC-RES-01', 'MC-PRM-01'],
    title: 'A capability is advertised, and its list is refused',
    repair: 'Serve the list (an empty one if need be), or stop advertising the capability.',
  },
  'capability-undeclared': {
    level: 'warning',
    requirements: ['MC-DISC-10', 'MC-ERR-12'],
    title: 'A list is served whose capability is not advertised, so that clients will not ask for it',
    repair: 'Advertise the capability, or answer the method with -32601.',
  },
  'instructions-empty': {
    level: 'note',
    requirements: ['MC-DISC-06'],
    title: 'instructions is an empty string',
    repair: 'Leave the member out.',
  },
  'modern-ran-unmarked': {
    level: 'note',
    requirements: ['MC-ERA-05', 'A10'],
    title: 'Requests of the modern era are run and answered as if they were legacy: a silent downgrade',
    repair:
      'Nothing is wrong with a legacy server that does so, but a client that skips discovery would not notice. Refuse requests that carry a protocol version in _meta, or serve the modern era.',
  },
  'probe-server-error': {
    level: 'warning',
    requirements: ['A-01', 'H05'],
    title:
      'The request by which clients detect the era ends in a server error, so that they give up in place of falling back',
    repair: 'Answer unknown methods with 400 or 404 and a JSON-RPC error, never with a status of 500 or more.',
  },
  'probe-silent': {
    level: 'warning',
    requirements: ['MS-ERA-04', 'S11'],
    title:
      'The request by which clients detect the era is not answered at all, so that each of them waits for its timeout',
    repair: 'Answer every request that is not understood with the error -32601, also before initialize.',
  },
  'probe-fatal': {
    level: 'warning',
    requirements: ['MS-ERA-04', 'S12', 'A2'],
    title: 'The server ends when it gets the request by which clients detect the era',
    repair: 'Answer what is not understood with an error and go on; clients must start the server twice otherwise.',
  },
  'version-unrefused': {
    level: 'error',
    requirements: ['MC-VER-01', 'MH-HDR-03'],
    title: 'A request for a revision that nobody has published is not refused with -32022',
    repair: 'Compare the protocol version of every request with the revisions served, and answer -32022 for others.',
  },
  'version-refusal-data': {
    level: 'error',
    requirements: ['MC-ERR-07'],
    title: 'The refusal of a revision does not say which revisions are served and which was asked for',
    repair: 'Give error.data.supported, an array of strings, and error.data.requested, a string, with -32022.',
  },
  'version-refusal-list': {
    level: 'warning',
    requirements: ['MC-ERR-07', 'A-25'],
    title: 'The refusal of a revision names other revisions than discovery does',
    repair: 'Take data.supported and supportedVersions from one list.',
  },
  'version-refusal-status': {
    level: 'error',
    requirements: ['MC-ERR-07', 'MH-HDR-03'],
    title: 'The refusal of a revision has a status other than 400',
    repair: 'Answer -32022 with HTTP status 400.',
  },
  'legacy-refusal-unnamed': {
    level: 'warning',
    requirements: ['MC-VER-05'],
    title:
      'initialize is refused without a word about the revisions that are served, so that users of legacy clients learn nothing',
    repair: 'Name the served revisions in the message of every error that answers initialize.',
  },
  'legacy-version-other': {
    level: 'warning',
    requirements: ['LG-LIFE-07', 'LG-LIFE-08'],
    title: 'initialize is answered with another revision than was asked for: a downgrade that strict clients refuse',
    repair: 'Serve the revision that clients ask for, if the server can.',
  },
  'legacy-version-unusable': {
    level: 'error',
    requirements: ['LG-LIFE-07'],
    title: 'initialize is answered with a revision that no handshake can agree on',
    repair: 'Answer initialize with the legacy revision that was asked for, or the newest legacy one that is served.',
  },
  'initialize-malformed': {
    level: 'error',
    requirements: ['LG-LIFE-02'],
    title: 'The answer to initialize lacks protocolVersion or capabilities',
    repair: 'Answer initialize with protocolVersion (a string), capabilities (an object) and serverInfo.',
  },
  'initialize-server-info': {
    level: 'error',
    requirements: ['LG-LIFE-02'],
    title: 'The answer to initialize does not name the server',
    repair: 'Give serverInfo with the strings name and version.',
  },
  'initialize-instructions': {
    level: 'error',
    requirements: ['LG-LIFE-02'],
    title: 'instructions in the answer to initialize is no string',
    repair: 'Send instructions as one string, or leave the member out.',
  },
  'legacy-modern-members': {
    level: 'note',
    requirements: ['LG-MSG-06', 'B1'],
    title: 'Legacy results carry members of the modern revision',
    repair: 'Leave resultType, ttlMs and cacheScope out of legacy results; strict clients validate them.',
  },
  'removed-method-served': {
    level: 'error',
    requirements: ['MC-DEP-02'],
    title: 'A method that the modern revision removed is served to a modern request',
    repair: 'Answer ping, initialize and the like with -32601 when the request carries a modern protocol version.',
  },
} as const satisfies FindingKinds
