import type { Answer } from '../wire/answer.ts'
import type { WireFailure } from '../wire/failure.ts'
import type { Trouble } from '../trouble.ts'

/** Why an exchange with this URL gave nothing, in words for people. */
export function explainFailure(failure: WireFailure, url: URL): Trouble {
  const host = url.hostname
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  if (failure.proxy !== undefined && failure.stage !== 'body') {
    return {
      cause: `The way to ${host} leads through the proxy ${failure.proxy}, and there it ends (${failure.code ?? failure.message}).`,
      repair: 'Correct HTTP_PROXY or HTTPS_PROXY, or name the host in NO_PROXY if it is to be reached directly.',
    }
  }
  if (failure.kind === 'timeout') return explainTimeout(failure, host, port)
  if (failure.kind === 'too-large') {
    return {
      cause: `The answer has no end: ${failure.message}.`,
      repair: 'Check that the URL is that of an MCP endpoint.',
    }
  }
  switch (failure.code ?? '') {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_NONAME':
      return {
        cause: `The name ${host} cannot be resolved (${failure.code}).`,
        repair: 'Correct the host in the URL, or check the network, the DNS or the VPN of this machine.',
      }
    case 'ECONNREFUSED':
      return {
        cause: `Nothing listens at ${host}:${port} (connection refused).`,
        repair: 'Start the server, or correct the port in the URL.',
      }
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return {
        cause: `There is no way to ${host} (${failure.code}).`,
        repair: 'Check the network, the VPN, and whether the address is right.',
      }
    default:
      return explainBreak(failure, url)
  }
}

function explainTimeout({ stage, message }: WireFailure, host: string, port: string): Trouble {
  switch (stage) {
    case 'dns':
      return { cause: `The name ${host} is not resolved in time.`, repair: 'Check the DNS of this machine.' }
    case 'tcp':
      return {
        cause: `${host}:${port} does not accept a connection in time.`,
        repair: 'Check that the server runs, and that no firewall drops the packets.',
      }
    case 'tls':
      return {
        cause: `${host}:${port} accepts the connection, but does not complete TLS.`,
        repair: 'Check that this port speaks https.',
      }
    case 'body':
      return {
        cause: `The server begins an answer and does not end it: ${message}.`,
        repair: 'See the log of the server; it may wait for something, or the endpoint may be no MCP endpoint.',
      }
    case 'http':
    case 'spawn':
    case 'connect':
    case 'line':
      return {
        cause: `The server accepts the connection and then says nothing: ${message}.`,
        repair: 'See the log of the server; if it is only slow to start, give a longer --timeout-ms.',
      }
  }
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/

function explainBreak({ code, stage, message }: WireFailure, url: URL): Trouble {
  if (code !== undefined && certificateCodes.test(code)) {
    return {
      cause: `The certificate of ${url.hostname} is not accepted (${code}).`,
      repair:
        'Give the certificate of its authority in NODE_EXTRA_CA_CERTS, or mend the certificate (name, date, chain) on the server.',
    }
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return {
      cause: 'The headers of the answer are larger than clients read (16 KiB).',
      repair: 'Let the server, or what stands before it, send fewer and shorter headers (cookies, say).',
    }
  }
  if (stage === 'body') {
    return {
      cause: `The server breaks off in the middle of an answer (${code ?? message}).`,
      repair: 'See the log of the server, and of what stands before it.',
    }
  }
  if (code?.startsWith('HPE_') === true) {
    return {
      cause: `What listens at ${url.host} does not speak HTTP (${code}).`,
      repair: 'Correct the port in the URL, or write https:// if this one speaks TLS.',
    }
  }
  const looksPlain = /wrong version number|packet length too long|ERR_SSL/i.test(`${code ?? ''} ${message}`)
  if (url.protocol === 'https:' && (looksPlain || stage === 'tls')) {
    return {
      cause: `${url.host} does not speak TLS as the URL says (${code ?? message}).`,
      repair: 'Write http:// in the URL if the server has no TLS, or correct the port.',
    }
  }
  return {
    cause: `The server closes the connection without an answer (${code ?? message}).`,
    repair:
      url.protocol === 'http:'
        ? 'If the server speaks TLS, write https:// in the URL; otherwise see its log.'
        : 'See the log of the server, and of what stands before it.',
  }
}

/** Why an HTTP answer is none of MCP, in words for people. Undefined where the status says nothing by itself. */
export function explainStatus(answer: Answer, url: URL): Trouble | undefined {
  const { http } = answer
  if (http === undefined || answer.response !== undefined) return undefined
  const { status, headers } = http
  const type = headers['content-type'] ?? 'no media type'
  if (url.protocol === 'http:' && status === 400 && /\bHTTP request\b.*\bHTTPS\b/i.test(http.body)) {
    return { cause: `${url.host} speaks https, and the URL says http.`, repair: 'Write https:// in the URL.' }
  }
  if (status === 501 || (status === 405 && /html/i.test(type))) {
    return {
      cause: `This is a web server for pages (it answers POST with ${status}, ${type}), and no MCP endpoint.`,
      repair: `Correct the host, the port or the path of the URL${url.pathname.endsWith('/mcp') ? '' : '; most servers answer at /mcp'}.`,
    }
  }
  if (status >= 500) {
    return {
      cause: `The server fails: it answers ${status} to everything.`,
      repair: 'See the log of the server; if something stands before it, check that this reaches the server.',
    }
  }
  if (status === 403) {
    return {
      cause: 'The server refuses access (403).',
      repair:
        'A firewall, an origin check or missing rights: give what it wants with --header, or let it admit this client.',
    }
  }
  if (status === 404) {
    return {
      cause: `There is nothing at ${url.pathname} (404).`,
      repair: `Correct the path of the URL${url.pathname.endsWith('/mcp') ? '' : '; most servers answer at /mcp'}.`,
    }
  }
  if (status === 405) {
    return {
      cause: `${url.pathname} takes no POST (405).`,
      repair:
        'Correct the path of the URL. A server of the deprecated HTTP+SSE transport also answers so; such a one needs a proxy.',
    }
  }
  if (status === 429) {
    const after = headers['retry-after']
    return {
      cause: `The server answers 429: too many requests${after === undefined ? '' : `, try again after ${after}`}.`,
      repair: 'Wait, and probe again.',
    }
  }
  if (status >= 300 && status < 400) {
    return {
      cause: `The URL redirects (${status}) to ${headers['location'] ?? 'nowhere'}.`,
      repair: 'Configure the final URL.',
    }
  }
  if (http.isEventStream && status < 300) {
    const isCutOff = /^data:/m.test(http.body) && !/\r?\n\r?\n$|\r\r$/.test(http.body)
    return {
      cause: `The server opens an event stream and ends it ${isCutOff ? 'in the middle of an event' : 'without the answer'}.`,
      repair: isCutOff
        ? 'End every event with an empty line ("data: …", line feed, line feed).'
        : 'Write the response before the stream ends; see the log of the server.',
    }
  }
  const [junk] = answer.junk
  if (status < 300 && junk !== undefined && /json/i.test(type)) {
    return {
      cause: `The URL answers ${status} with ${type}, but what it says is no JSON-RPC message: ${junk.reason}.`,
      repair:
        'Check that the URL is that of the MCP endpoint and not of another API; a body is one JSON object, without a byte order mark.',
    }
  }
  if (status < 300 && !http.isEventStream) {
    const what = !/\S/.test(http.body)
      ? 'nothing'
      : /html/i.test(type)
        ? `a web page (${type})`
        : `something that is no MCP (${type})`
    return {
      cause: `The URL answers ${status} with ${what}.`,
      repair: `Correct the path of the URL${url.pathname.endsWith('/mcp') ? '' : '; most servers answer at /mcp'}. A login page or a captive portal also answers so.`,
    }
  }
  return {
    cause: `The server answers ${status} without a JSON-RPC message.`,
    repair: 'Check that the URL is that of an MCP endpoint.',
  }
}
