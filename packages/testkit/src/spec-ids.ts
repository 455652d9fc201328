/**
 * The other stable ids that a test title may name: decisions, bridge rules, rows of the client's verdict tables, and
 * field reports (faults that users of such tools met in public, in our words).
 */
import type { RequirementOwner } from './requirements.ts'

const numbered = (prefix: string, digits: number, first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => prefix + String(first + index).padStart(digits, '0'))

/** Policy where the specification is silent or contradicts itself. */
export const decisionIds: readonly string[] = numbered('A-', 2, 1, 62)

/** How messages, errors and capabilities cross from one era to the other, or are relayed within one. */
export const bridgeRuleIds: readonly string[] = [
  ...numbered('BR-', 3, 101, 118),
  ...numbered('BR-', 3, 121, 132),
  ...numbered('BR-', 3, 201, 213),
  ...numbered('BR-', 3, 221, 239),
  ...numbered('BR-', 3, 301, 308),
]

/** What an HTTP client concludes from the answer to its probe. */
export const httpProbeRowIds: readonly string[] = numbered('H', 2, 1, 28)

/** What a client on stdio or a socket concludes from the answer to its probe. */
export const duplexProbeRowIds: readonly string[] = numbered('S', 2, 1, 18)

/** A fault that was reported in public, and who owes the right behaviour. */
export interface FieldReport {
  readonly id: string
  readonly title: string
  readonly owners: readonly RequirementOwner[]
}

type Row = readonly [id: string, title: string, owners: readonly RequirementOwner[]]

// biome-ignore format: a table, one row a line
const reports: readonly Row[] = [
  ['A1', 'Auto client falls back on `-32601` only, so legacy servers that answer `-32600`, `-32602`, HTTP 400 with `id:null`, plain-text 400 or nothing stop working.', ['mcpcompat', 'stdio', 'http', 'probe']],
  ['A2', 'Legacy stdio server exits on the probe (rmcp-style servers die on any pre-initialize request); no process is left to receive `initialize`.', ['stdio', 'mcpcompat', 'passthrough', 'probe']],
  ['A4', 'HTTP 200 with `-32601` is not treated as legacy.', ['mcpcompat', 'http']],
  ['A5', 'An error with `id:null` makes negotiation fail hard.', ['mcpcompat', 'http']],
  ['A7', '401/403 on the probe: two opposite wishes (never downgrade; downgrade when the body really says method-not-found).', ['mcpcompat', 'http', 'passthrough']],
  ['A8', 'A repeated probe pins the era.', ['stdio', 'core']],
  ['A10', 'A legacy server quietly runs a modern request.', ['probe', 'passthrough', 'mcpcompat']],
  ['A11', 'A DiscoverResult without `resultType` is misread as legacy.', ['mcpcompat', 'probe']],
  ['A13', 'Pre-release error numbers (`-32004`, `-32003`, `-32001`) instead of the final ones (`-32022`, `-32021`, `-32020`).', ['mcpcompat']],
  ['A14', 'The validation outcome "reject" is treated as "modern"; a broken modern request is served or downgraded.', ['mcpcompat', 'http']],
  ['A16', 'Header/body version mismatch on a legacy `initialize` is accepted.', ['http', 'mcpcompat']],
  ['A17', 'The opposite of A16: `initialize`, or a later request of a session, is refused because it carries no version header.', ['http']],
  ['A19', 'A bridge forgets the version header after `initialize`.', ['passthrough', 'http']],
  ['A20', 'A proxy forwards the other hop\'s MCP headers.', ['passthrough', 'http']],
  ['B1', '`resultType` is omitted.', ['mcpcompat', 'core', 'passthrough']],
  ['B2', 'Invented or unknown `resultType`.', ['mcpcompat', 'passthrough']],
  ['B4', 'A tool name that itself looks like the base64 sentinel.', ['mcpcompat']],
  ['B5', 'Header mismatch or missing header is accepted.', ['http', 'mcpcompat']],
  ['B7', 'An invalid `x-mcp-header` annotation must drop *one* tool, not the list.', ['mcpcompat', 'http', 'passthrough']],
  ['B8', 'A param header is rejected after the schema changed.', ['http', 'passthrough']],
  ['B10', 'MRTR never ends.', ['mcpcompat', 'passthrough', 'http']],
  ['B11', '`input_required` where it is forbidden.', ['mcpcompat', 'core']],
  ['B13', 'The cancellation signal differs per transport and era, and is lost in between.', ['http', 'passthrough', 'core']],
  ['B14', 'Listen is advertised though nothing is ever published.', ['core', 'http']],
  ['B16', 'Cache hints are ignored or leaked.', ['mcpcompat', 'passthrough', 'blobs']],
  ['C1', '`Accept` is judged too strictly.', ['http']],
  ['C2', '`Content-Type` with charset or other case is refused.', ['http']],
  ['C4', 'A dead session bricks the client.', ['http', 'passthrough']],
  ['C5', '404 on GET is ignored as "no SSE".', ['http']],
  ['C7', 'GET storm.', ['http', 'passthrough']],
  ['C8', 'An idle stream is cut; headers are withheld.', ['http', 'proxy']],
  ['C10', 'CR and LF split over two chunks make two events.', ['http']],
  ['C11', 'Many data lines, split characters and odd fields break the SSE parser.', ['http']],
  ['C13', 'U+2028, U+2029 or NEL inside SSE data is taken for a line end.', ['http']],
  ['C14', 'The size cap trips wrongly.', ['http']],
  ['C16', 'Answers that are not JSON-RPC: 2xx with other JSON, HTML errors, refused connections.', ['passthrough', 'http']],
  ['C17', 'Body limits: unknown, too small, or answered with HTML or "parse error".', ['http', 'blobs']],
  ['C19', 'Redirects.', ['http', 'passthrough', 'blobs']],
  ['C20', 'Duplicate in-flight id: the first caller never gets its answer (seen as an empty 200 hanging 240 s).', ['http', 'core', 'stdio']],
  ['C22', 'Session hijack; and the opposite, sessions bound to token bytes.', ['http', 'core']],
  ['C23', 'Sessions and streams leak when clients vanish.', ['http', 'passthrough', 'core']],
  ['C25', 'A notification is answered with 200 or a body.', ['http']],
  ['D1', 'CRLF lines.', ['stdio']],
  ['D2', 'Byte-order mark.', ['stdio']],
  ['D4', 'Multi-byte characters split over chunks turn into U+FFFD.', ['stdio', 'passthrough']],
  ['D5', 'One garbage line kills the connection.', ['stdio', 'core', 'probe']],
  ['D7', 'A peer that speaks LSP framing.', ['probe', 'stdio']],
  ['D8', 'Unlimited line.', ['stdio']],
  ['D10', 'EOF is not noticed → orphans.', ['stdio', 'server', 'proxy']],
  ['D11', 'The opposite of D10: EOF eats answers.', ['stdio', 'server', 'proxy']],
  ['D13', 'Children leak per request or per session.', ['passthrough', 'proxy']],
  ['D14', 'The child dies, the proxy looks healthy.', ['passthrough', 'stdio', 'proxy']],
  ['D16', 'Head-of-line blocking.', ['stdio', 'core', 'passthrough']],
  ['D17', 'Windows spawn.', ['stdio']],
  ['D19', 'Bad UTF-8 and lone surrogates.', ['stdio', 'core', 'passthrough']],
  ['E1', 'The type of the id changes.', ['core', 'stdio', 'http', 'passthrough']],
  ['E2', 'An unknown id is coerced to 0.', ['core']],
  ['E4', 'Batches bypass policy or are met with silence.', ['core', 'http', 'stdio', 'passthrough']],
  ['E5', 'Loose envelope.', ['core']],
  ['E7', 'A cancel through a proxy has the wrong id or target, and queues.', ['passthrough']],
  ['E8', 'A late response or progress is treated as fatal.', ['stdio', 'http', 'core', 'passthrough']],
  ['E10', 'A proxy drops `_meta` or progress.', ['passthrough']],
  ['E11', 'Big integers are rounded; BigInt then crashes stringify.', ['passthrough', 'core']],
  ['E13', 'Prototype names pass an allow-list, vanish, or pollute.', ['core', 'passthrough', 'mcpcompat']],
  ['E14', 'Duplicate JSON keys are read differently by hop and server.', ['passthrough']],
  ['F1', 'structuredContent, outputSchema, annotations and `_meta` are dropped.', ['passthrough']],
  ['F2', 'A blob resource is relabelled as text.', ['passthrough', 'blobs']],
  ['F4', 'Cursor traps.', ['passthrough', 'http', 'core', 'probe']],
  ['F5', 'An allow-list only filters the list; or allowed tools are ignored.', ['core', 'passthrough']],
  ['F7', 'The advertised capabilities are not the backend\'s.', ['passthrough', 'mcpcompat']],
  ['F8', 'Names: collision, order-dependent suffix (an endless loop in one case), 64-character limit, truncation.', ['passthrough', 'core']],
  ['F10', 'Schema dialects and `$ref` (a draft-07 outputSchema made every call fail).', ['core', 'passthrough']],
  ['F11', 'A side effect is silently run twice.', ['passthrough', 'http']],
  ['F13', 'Stateful and stateless upstreams mixed in one proxy.', ['passthrough']],
  ['F14', 'Server→client requests are lost.', ['passthrough', 'mcpcompat']],
  ['F16', 'Secrets in logs.', ['passthrough', 'proxy', 'server', 'probe']],
  ['F17', 'Response headers are dropped by a hop.', ['passthrough']],
  ['F19', 'Unix socket stale, too open, or at a bad path.', ['core', 'server']],
  ['F20', 'Workflow state torn or stuck.', ['core']],
  ['G1', 'The type is not sent, or the answer says `*/*`.', ['blobs']],
  ['G2', 'The type is lost on copy.', ['blobs']],
  ['G4', 'CID forms.', ['blobs']],
  ['G5', 'A CDN is assumed.', ['blobs']],
  ['G7', 'Upload of an odd image → 500.', ['blobs']],
  ['G8', 'A fresh upload cannot be fetched.', ['blobs']],
  ['G10', 'Active content.', ['blobs', 'server']],
]

/** All field reports, in the order of their groups A (era detection) to G (blobs). */
export const fieldReports: readonly FieldReport[] = reports.map(([id, title, owners]) => ({ id, title, owners }))
