import type { FindingKinds } from './kind.ts'

/** What a server that wants credentials says about how to get them. */
export const authorizationFindings = {
  'auth-challenge-missing': {
    level: 'error',
    requirements: ['MC-AUTH-03'],
    title: 'A 401 does not say how to get in',
    repair: 'Send WWW-Authenticate: Bearer with resource_metadata and scope.',
  },
  'auth-partial': {
    level: 'note',
    requirements: ['MC-AUTH-03'],
    title: 'Some requests are refused for want of credentials or rights, so that what they lead to was not checked',
    repair: 'Give credentials with --header-file FILE or --sign-in, so that the rest can be checked.',
  },
  'auth-metadata-missing': {
    level: 'error',
    requirements: ['MC-AUTH-03'],
    title: 'There are no metadata of the protected resource',
    repair:
      'Serve them at /.well-known/oauth-protected-resource with the path of the endpoint after it, and name them in the challenge.',
  },
  'auth-metadata-misplaced': {
    level: 'warning',
    requirements: ['MC-AUTH-03'],
    title: 'The metadata are not where the challenge says',
    repair: 'Put the URL at which they are served into resource_metadata.',
  },
  'auth-metadata-invalid': {
    level: 'error',
    requirements: ['MC-AUTH-03'],
    title: 'The metadata of the protected resource cannot be used',
    repair: 'Serve a JSON object with resource and at least one of authorization_servers.',
  },
  'auth-resource-mismatch': {
    level: 'error',
    requirements: ['MC-AUTH-05'],
    title: 'The metadata are about another resource, so that no client asks for a token',
    repair: 'Write the URL of the endpoint, as clients know it, into resource.',
  },
  'auth-issuer-mismatch': {
    level: 'error',
    requirements: ['MC-AUTH-06'],
    title: 'The authorization server calls itself otherwise than the server calls it',
    repair:
      'Write into authorization_servers exactly what its own metadata have as issuer; a slash at the end makes a difference.',
  },
  'auth-issuer-metadata': {
    level: 'error',
    requirements: ['MC-AUTH-01'],
    title: 'The metadata of the authorization server are missing or cannot be used',
    repair:
      'Serve them at /.well-known/oauth-authorization-server or /.well-known/openid-configuration, with the path of the issuer.',
  },
  'auth-pkce-missing': {
    level: 'error',
    requirements: ['MC-AUTH-06'],
    title: 'The authorization server does not say that it supports PKCE with S256, so that clients must refuse it',
    repair: 'Support PKCE, and say so: "code_challenge_methods_supported": ["S256"].',
  },
  'auth-registration-missing': {
    level: 'warning',
    requirements: ['MC-AUTH-07'],
    title: 'No client can introduce itself to the authorization server',
    repair:
      'Take client-ID metadata documents, or offer dynamic registration; else each client has to be registered by hand.',
  },
  'auth-insecure-url': {
    level: 'error',
    requirements: ['MC-AUTH-01'],
    title: 'The metadata send clients to a URL that they must not ask',
    repair: 'Use https, without credentials in the URL, and no address of the machine of the client.',
  },
  'auth-metadata-unreachable': {
    level: 'error',
    requirements: ['MC-AUTH-03'],
    title: 'Metadata that are needed for a sign-in could not be had',
    repair: 'Make them reachable for clients.',
  },
} as const satisfies FindingKinds
