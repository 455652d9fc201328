/** What came on a connection is no HTTP answer, or one whose end cannot be told for certain. Nothing after it can be trusted. */
export class HttpFault extends Error {
  override readonly name: string = 'HttpFault'
  readonly code = 'HTTP_FAULT'
}

/** The peer has closed the connection before everything had come; the code is the one that the system has for it. */
export class HangUp extends Error {
  override readonly name: string = 'HangUp'
  readonly code = 'ECONNRESET'
}
