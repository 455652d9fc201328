import type { JsonObject, JsonValue } from '@atenea/mcpcompat'
import {
  createBrowserFlow,
  createClientCredentialsFlow,
  createEnterpriseFlow,
  createOAuthAuthorizer,
  createWorkloadFlow,
  type Flow,
  type OAuthAuthorizer,
  type StaticClient,
} from '@atenea/transport-http/oauth'
import type { HttpSend } from '@atenea/transport-http'
import { createLoopbackReceiver } from '@atenea/transport-http/oauth/node'

const metadataUrl = 'https://conformance-test.local/client-metadata.json'

/**
 * How the client that the official suite drives signs in: by what the suite gave it, else with a browser, whose part the pages of the suite
 * make easy, since they send everybody back at once.
 */
export function conformanceSignIn(url: string, context: JsonObject, send: HttpSend): OAuthAuthorizer {
  return createOAuthAuthorizer(url, {
    identity: { name: 'Atenea conformance client', metadataUrl, clients: clientsOf(context) },
    flow: flowFor(context),
    send,
    onDiagnostic: ({ level, code, message }) => process.stderr.write(`${level} ${code}: ${message}\n`),
  })
}

function clientsOf(context: JsonObject): readonly StaticClient[] {
  const clientId = textOf(context['client_id'])
  if (clientId === undefined) return []
  return [
    {
      clientId,
      issuer: textOf(context['issuer']),
      clientSecret: textOf(context['client_secret']),
      privateKeyPem: textOf(context['private_key_pem']),
      algorithm: textOf(context['signing_algorithm']),
    },
  ]
}

function flowFor(context: JsonObject): Flow {
  const workloadToken = textOf(context['valid_jwt'])
  if (workloadToken !== undefined) return createWorkloadFlow({ assertion: () => workloadToken })
  const idToken = textOf(context['idp_id_token'])
  const identityProvider = textOf(context['idp_issuer'])
  if (idToken !== undefined && identityProvider !== undefined) {
    const client = { clientId: textOf(context['idp_client_id']) ?? '' }
    return createEnterpriseFlow({ identityProvider, client, idToken: () => idToken })
  }
  // A client with credentials of which no issuer is known is a program of its own; one that belongs to an issuer is for people.
  if (context['client_id'] !== undefined && context['issuer'] === undefined) return createClientCredentialsFlow()
  return createBrowserFlow({
    listen: async (preferred) => await createLoopbackReceiver({ preferred }),
    open: (page, signal) => {
      void fetch(page, { signal }).catch((error: unknown) =>
        process.stderr.write(`the browser failed: ${String(error)}\n`),
      )
    },
  })
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
