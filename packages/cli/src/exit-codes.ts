/** What a binary tells its caller when it ends. */
export const exitCode = {
  ok: 0,
  /** Something unexpected happened, or a check failed. */
  failed: 1,
  /** The command line or a configuration file is wrong; nothing was started. */
  usage: 2,
  /** The peer wants credentials. */
  authRequired: 3,
  /** The peer could not be reached. */
  unreachable: 4,
  /** A tool call failed. */
  toolFailed: 5,
  /** Ended by SIGINT, or by a second signal before the first was carried out. */
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCode)[keyof typeof exitCode]
