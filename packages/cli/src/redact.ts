/** Takes secrets out of text that is about to be shown or logged. */
export interface Redactor {
  /** Makes this value unprintable, also its beginning, and its hex, Base64 and URL forms. Values under 3 characters are ignored. */
  add(secret: string | undefined): void
  /** The text with every known secret, and whatever looks like one, replaced by `[redacted]`. Linear in the length of the text. */
  redact(text: string): string
  /** The text with every known secret replaced, and nothing that only looks like one: for data that must stay what it is. */
  redactKnown(text: string): string
  /** Whether a member, variable or header of this name holds a secret. */
  isSecretName(name: string): boolean
}

const mark = '[redacted]'
const shortestSecret = 3
/** Longer secrets are also found by their beginning, since a message may have been cut. */
const shortestBeginning = 6

const secretWord =
  '(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credential|session[_-]?id|request[_-]?state|authorization|cookie)'
const secretName = new RegExp(secretWord, 'i')

/** Pattern and what stays of it. Repetitions have bounds, so that no text makes them slow. */
const patterns: readonly (readonly [RegExp, string])[] = [
  // Authorization: Basic abc  ·  "cookie":"a=b"
  [
    /\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|mcp-session-id)(["']?\s{0,4}[:=]\s{0,4}["']?)[^"'\r\n]+/gi,
    `$1$2${mark}`,
  ],
  [/\b(Bearer|DPoP)\s{1,4}[^\s"',;]+/gi, `$1 ${mark}`],
  // https://user:password@host
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#@"']{1,512}@/gi, `$1${mark}@`],
  // ?key=abc&api_token=def
  [
    /([?&][\w.-]{0,40}(?:key|token|secret|sig|signature|passw(?:or)?d|code|auth|session)[\w.-]{0,40}=)[^&\s#"']+/gi,
    `$1${mark}`,
  ],
  // ACCESS_TOKEN=abc  ·  "password": "abc"  ·  --api-key=abc
  [new RegExp(`(${secretWord}[\\w.-]{0,40}["']?\\s{0,4}[:=]\\s{0,4}["']?)[^\\s"'&,;}]+`, 'gi'), `$1${mark}`],
  // --token abc
  [/(--[\w-]{0,40}(?:token|secret|passw(?:or)?d|key|credential)[\w-]{0,40}\s{1,4})[^\s-][^\s]*/gi, `$1${mark}`],
  // JSON web tokens; app passwords of the AT Protocol
  [/\beyJ[\w-]{5,}\.[\w-]{1,}\.[\w-]*/g, mark],
  [/\b[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}\b/g, mark],
]

export function createRedactor(): Redactor {
  /** Every form of every secret; longer ones first, so that none is cut by another that it begins with. */
  let forms: readonly string[] = []
  const redactKnown = (text: string): string => {
    let clean = text
    for (const form of forms) clean = withoutForm(clean, form)
    return clean
  }
  return {
    add: (secret) => {
      if (secret === undefined || secret.length < shortestSecret) return
      forms = [...new Set([...forms, ...formsOf(secret)])].sort((a, b) => b.length - a.length)
    },
    redactKnown,
    redact: (text) => {
      let clean = redactKnown(text)
      for (const [pattern, kept] of patterns) clean = clean.replace(pattern, kept)
      return clean
    },
    isSecretName: (name) => secretName.test(name),
  }
}

/** Shorter values are switches and numbers rather than secrets, and to take them out would spoil every line. */
const shortestVariable = 6
/** `…_TOKEN_FILE` says where a secret lies. */
const namesPlace = /_(?:file|path|dir)$/i

/** Registers the values of environment variables whose names say that they are secret. */
export function addEnvironmentSecrets(
  redactor: Redactor,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  for (const [name, value = ''] of Object.entries(environment)) {
    if (value.length >= shortestVariable && redactor.isSecretName(name) && !namesPlace.test(name)) redactor.add(value)
  }
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const hex = bytes.toString('hex')
  return [
    secret,
    hex,
    hex.toUpperCase(),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
  ]
}

function withoutForm(text: string, form: string): string {
  const beginning = form.slice(0, Math.max(shortestBeginning, Math.ceil(form.length / 3)))
  let found = text.indexOf(beginning)
  if (found < 0) return text
  let clean = ''
  let position = 0
  while (found >= 0) {
    let end = found + beginning.length
    while (end < text.length && end - found < form.length && text[end] === form[end - found]) end += 1
    clean += text.slice(position, found) + mark
    position = end
    found = text.indexOf(beginning, position)
  }
  return clean + text.slice(position)
}
