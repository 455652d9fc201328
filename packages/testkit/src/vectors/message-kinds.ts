import {
  type Era,
  isConformingToolName,
  isLogLevel,
  type JsonObject,
  type JsonValue,
  levelAdmits,
  modernRevision,
  parseRevision,
  RpcError,
  toObject,
  toText,
} from '@atenea/mcpcompat'
import {
  acknowledgement,
  checkEnvelope,
  createModernCodec,
  grantFilter,
  isSessionId,
  metaOf,
  nextPage,
  parseListenFilter,
  parseMessage,
  parseMetaKey,
  type RpcErrorObject,
  statusOfError,
  translateError,
} from '@atenea/mcpcompat/transport'
import { method } from '@atenea/mcpcompat'
import { given, givenText, idOf, type Kind, object, present, text } from './kind.ts'
import { strings } from './vector-file.ts'

const metaKey: Kind = {
  run: (input) => ({ ...parseMetaKey(text(input, 'key'), text(input, 'era') as Era) }),
}

const metaRequest: Kind = {
  run(input) {
    const offer = { modern: strings(input['supportedModern']), legacy: strings(input['supportedLegacy']) }
    const fault = checkEnvelope(metaOf(object(input, 'params')), offer)
    // a refused envelope is a bad request, whatever its code
    return fault === undefined ? { ok: true } : { ...errorMembers(fault), httpStatus: 400 }
  },
  optional: ['httpStatus', 'data'],
}

function errorMembers({ code, data }: RpcErrorObject): JsonObject {
  return present({ code, data: data === undefined ? undefined : (JSON.parse(toText(data)) as JsonObject) })
}

function isSuccess(name: JsonValue | undefined): boolean {
  return name === 'result' || name === 'response' || name === 'success'
}

const jsonrpcClassify: Kind = {
  run(input, _file, source) {
    const raw = input['raw']
    const message = parseMessage(typeof raw === 'string' ? raw : givenText(source, 'message').text, 'parsed')
    return message.kind === 'reject' ? { kind: 'invalid', code: message.code } : { kind: message.kind }
  },
  // the format does not name the form of a success response
  accept: ({ kind, ...rest }, actual) => ({
    ...rest,
    kind: actual['kind'] === 'result' && isSuccess(kind) ? 'result' : kind,
  }),
}

const versionParse: Kind = {
  run(input) {
    const parsed = parseRevision(given(input, 'version'))
    return parsed === undefined ? { malformed: true } : { known: parsed.known, era: parsed.era }
  },
}

const subscriptionAck: Kind = {
  run(input) {
    const { notifications, capabilities } = input
    // null stands for absent
    const params = notifications === null ? {} : present({ notifications })
    try {
      const granted = grantFilter(parseListenFilter(params), object(present({ capabilities }), 'capabilities'))
      const codec = createModernCodec({ revision: modernRevision })
      const listen = { method: method.listen, params }
      const context = { progressToken: undefined, logLevel: undefined, resume: undefined }
      const message = codec.encodeNotice(listen, acknowledgement(granted), context, idOf(input, 'id'))
      return message === undefined ? {} : { method: message.method, params: toObject(message.params ?? {}) }
    } catch (error) {
      if (RpcError.is(error)) return { code: error.code }
      throw error
    }
  },
}

const bridgeError: Kind = {
  run(input) {
    const { code, data, uri } = input
    const error = { code: Number(code), message: 'm', ...(data !== undefined && { data }) }
    const translated = translateError(error, {
      from: text(input, 'from') as Era,
      to: text(input, 'to') as Era,
      method: text(input, 'method'),
      ...(typeof uri === 'string' && { uri }),
    })
    return { ...errorMembers(translated), httpStatus: statusOfError(translated.code) }
  },
  optional: ['httpStatus', 'data'],
}

const nextPageKind: Kind = {
  run(input) {
    const next = nextPage(object(input, 'result'))
    return next.more ? { more: true, cursor: next.cursor } : { more: false, cursor: null }
  },
  // no cursor is null or left out
  optional: ['cursor'],
}

const logFilter: Kind = {
  run(input) {
    const { requestLevel, messageLevel } = input
    const wanted = isLogLevel(requestLevel) ? requestLevel : undefined
    return { send: isLogLevel(messageLevel) && levelAdmits(wanted, messageLevel) }
  },
}

const sessionId: Kind = { run: (input) => ({ valid: isSessionId(text(input, 'value')) }) }

const toolName: Kind = { run: (input) => ({ conforming: isConformingToolName(text(input, 'name')) }) }

/** Kinds about single members and messages. */
export const messageKinds: Readonly<Record<string, Kind>> = {
  meta_key: metaKey,
  meta_request: metaRequest,
  jsonrpc_classify: jsonrpcClassify,
  version_parse: versionParse,
  subscription_ack: subscriptionAck,
  bridge_error: bridgeError,
  next_page: nextPageKind,
  log_filter: logFilter,
  session_id: sessionId,
  tool_name: toolName,
}
