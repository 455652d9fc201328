/** Answers as bytes, by what is of interest in them. Text stands for one byte a character. */
export interface Sample {
  readonly name: string
  readonly bytes: string
  /** Whether the server closes the connection after it. */
  readonly closes?: boolean
}

const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`

/** Answers that are in order. */
export const sound: readonly Sample[] = [
  { name: 'a length', bytes: `${ok}Content-Type: application/json\r\nContent-Length: 5\r\n\r\nhello` },
  { name: 'a length of nothing', bytes: `${ok}Content-Length: 0\r\n\r\n` },
  { name: 'a length with zeros before it', bytes: `${ok}Content-Length: 0005\r\n\r\nhello` },
  { name: 'no reason phrase', bytes: 'HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok' },
  { name: 'no reason phrase and no blank', bytes: 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok' },
  { name: 'a reason phrase of any bytes', bytes: 'HTTP/1.1 200 \xc3\xa9\t!\r\nContent-Length: 2\r\n\r\nok' },
  { name: 'a status that nobody knows', bytes: 'HTTP/1.1 799 Odd\r\nContent-Length: 2\r\n\r\nok' },
  { name: 'no field at all', bytes: `${ok}\r\nuntil the end`, closes: true },
  { name: 'a body that ends with the connection', bytes: `${ok}A: b\r\n\r\nuntil\r\n\r\nthe end`, closes: true },
  { name: 'an empty body that ends with the connection', bytes: `${ok}A: b\r\n\r\n`, closes: true },
  { name: 'HTTP/1.0', bytes: 'HTTP/1.0 200 OK\r\nA: b\r\n\r\nold', closes: true },
  { name: 'HTTP/1.0 with a length', bytes: 'HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold', closes: true },
  { name: '204', bytes: 'HTTP/1.1 204 No Content\r\nA: b\r\n\r\n' },
  { name: '304 with the length of what it does not say', bytes: 'HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n' },
  { name: 'one chunk', bytes: `${chunked}5\r\nhello\r\n0\r\n\r\n` },
  { name: 'many chunks', bytes: `${chunked}1\r\na\r\n2\r\nbc\r\nA\r\n0123456789\r\n0\r\n\r\n` },
  { name: 'no chunk but the last', bytes: `${chunked}0\r\n\r\n` },
  { name: 'line ends within chunks', bytes: `${chunked}6\r\n\r\n0\r\n\r\r\n0\r\n\r\n` },
  { name: 'sizes with zeros before them', bytes: `${chunked}0005\r\nhello\r\n000\r\n\r\n` },
  { name: 'extensions of chunks', bytes: `${chunked}5;a=b;c="d e"\r\nhello\r\n0;x\r\n\r\n` },
  { name: 'a trailer', bytes: `${chunked}5\r\nhello\r\n0\r\nA: b\r\nC:\r\n\r\n` },
  { name: 'another spelling of chunked', bytes: `${ok}TRANSFER-encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n` },
  { name: 'blanks around values', bytes: `${ok}A: \t b  c \t\r\nB:d\r\nC:   \r\nContent-Length:\t2 \r\n\r\nok` },
  { name: 'bytes beyond ASCII in values', bytes: `${ok}A: \xe9\xff\r\nContent-Length: 2\r\n\r\n\xc3\xa9` },
  { name: 'every character that a name may have', bytes: `${ok}!#$%&'*+-.^_\`|~09aZ: x\r\nContent-Length: 0\r\n\r\n` },
  {
    name: 'fields that come twice',
    bytes: `${ok}A: 1\r\na: 2\r\nContent-Type: x\r\nContent-Type: y\r\nContent-Length: 0\r\n\r\n`,
  },
  {
    name: 'names of members that every object has',
    bytes: `${ok}constructor: a\r\ntoString: b\r\nContent-Length: 0\r\n\r\n`,
  },
  {
    name: 'interim answers',
    bytes: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n${ok}Content-Length: 2\r\n\r\nok`,
  },
  { name: 'a connection that is closed', bytes: `${ok}Connection: close\r\nContent-Length: 2\r\n\r\nok`, closes: true },
  { name: 'a head that is just short enough', bytes: `${ok}A: ${'x'.repeat(16_000)}\r\nContent-Length: 2\r\n\r\nok` },
]

/** Answers that are out of order, or that two readers could read in two ways. */
export const faulty: readonly Sample[] = [
  { name: 'another protocol', bytes: 'SSH-2.0-OpenSSH_9.7\r\n' },
  { name: 'another version', bytes: 'HTTP/3.0 200 OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'no version', bytes: 'HTTP 200 OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'a request', bytes: 'GET / HTTP/1.1\r\nHost: a\r\n\r\n' },
  { name: 'a status of two digits', bytes: 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'a status of four digits', bytes: 'HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'a status of letters', bytes: 'HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n' },
  { name: 'line ends of one character', bytes: 'HTTP/1.1 200 OK\nContent-Length: 0\n\n' },
  { name: 'a return within a value', bytes: `${ok}A: b\rc\r\nContent-Length: 0\r\n\r\n` },
  { name: 'a line feed that ends a field', bytes: `${ok}A: b\nContent-Length: 0\r\n\r\n` },
  { name: 'a NUL in a value', bytes: `${ok}A: b\0c\r\nContent-Length: 0\r\n\r\n` },
  { name: 'a control character in a value', bytes: `${ok}A: b\x01c\r\nContent-Length: 0\r\n\r\n` },
  { name: 'a blank before the colon', bytes: `${ok}A : b\r\nContent-Length: 0\r\n\r\n` },
  { name: 'a blank in a name', bytes: `${ok}A b: c\r\nContent-Length: 0\r\n\r\n` },
  { name: 'no name', bytes: `${ok}: b\r\nContent-Length: 0\r\n\r\n` },
  { name: 'no colon', bytes: `${ok}A\r\nContent-Length: 0\r\n\r\n` },
  { name: 'a name beyond ASCII', bytes: `${ok}\xe9: b\r\nContent-Length: 0\r\n\r\n` },
  { name: 'a folded line', bytes: `${ok}A: b\r\n c\r\nContent-Length: 0\r\n\r\n` },
  { name: 'a length that is none', bytes: `${ok}Content-Length: 5x\r\n\r\nhello` },
  { name: 'a length with a sign', bytes: `${ok}Content-Length: +5\r\n\r\nhello` },
  { name: 'a length below nothing', bytes: `${ok}Content-Length: -1\r\n\r\nhello` },
  { name: 'a length in hexadecimal', bytes: `${ok}Content-Length: 0x5\r\n\r\nhello` },
  { name: 'an empty length', bytes: `${ok}Content-Length:\r\n\r\nhello` },
  { name: 'a list of lengths', bytes: `${ok}Content-Length: 5, 5\r\n\r\nhello` },
  { name: 'two lengths', bytes: `${ok}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!` },
  { name: 'the same length twice', bytes: `${ok}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello` },
  { name: 'a length that no number holds', bytes: `${ok}Content-Length: 99999999999999999999999\r\n\r\n` },
  {
    name: 'a length beside chunks',
    bytes: `${ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  },
  {
    name: 'chunks beside a length',
    bytes: `${ok}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  },
  { name: 'a chunk without a size', bytes: `${chunked}\r\nhello\r\n0\r\n\r\n` },
  { name: 'a size that is none', bytes: `${chunked}g\r\nhello\r\n0\r\n\r\n` },
  { name: 'a size with a sign', bytes: `${chunked}+5\r\nhello\r\n0\r\n\r\n` },
  { name: 'a size with an x', bytes: `${chunked}0x5\r\nhello\r\n0\r\n\r\n` },
  { name: 'a size that no number holds', bytes: `${chunked}ffffffffffffffffff\r\nhello` },
  { name: 'a size with a line feed only', bytes: `${chunked}5\nhello\r\n0\r\n\r\n` },
  { name: 'a chunk longer than its size', bytes: `${chunked}4\r\nhello\r\n0\r\n\r\n` },
  { name: 'a chunk that ends with a line feed only', bytes: `${chunked}5\r\nhello\n0\r\n\r\n` },
  { name: 'a trailer that is none', bytes: `${chunked}0\r\nA b: c\r\n\r\n` },
  { name: 'more extensions than anybody reads', bytes: `${chunked}5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n` },
  { name: 'a head that is too long', bytes: `${ok}A: ${'x'.repeat(20_000)}\r\nContent-Length: 0\r\n\r\n` },
  { name: 'a change of protocol', bytes: 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n' },
  { name: 'a length that the connection does not reach', bytes: `${ok}Content-Length: 6\r\n\r\nhello`, closes: true },
  { name: 'chunks that break off', bytes: `${chunked}5\r\nhello\r\n`, closes: true },
  { name: 'chunks that break off in the last one', bytes: `${chunked}5\r\nhello\r\n0\r\n`, closes: true },
  { name: 'a head that breaks off', bytes: `${ok}Content-Le`, closes: true },
  { name: 'nothing', bytes: '', closes: true },
]

/** What we refuse and Node takes, since it leaves more than one reading of where a body ends or of what it is. */
export const stricter: readonly Sample[] = [
  {
    name: 'an encoding that nobody asked for',
    bytes: `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  },
  { name: 'an encoding without chunks', bytes: `${ok}Transfer-Encoding: gzip\r\n\r\nok`, closes: true },
  {
    name: 'chunked twice',
    bytes: `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  },
  { name: 'HTTP/2.0', bytes: 'HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok' },
]
