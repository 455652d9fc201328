/** Something that went wrong without failing a call, or a fact that an operator may want to know. */
export interface BlobDiagnostic {
  readonly level: 'debug' | 'info' | 'warning' | 'error'
  /** Stable name; branch on this. */
  readonly code: /** A file of a store was not what its name says. It was removed; whoever asked fetches it again. */
    | 'damaged-blob'
    /** Room could not be made, or files of others could not be looked at. */
    | 'cache-trouble'
    /** A blob that passes the limit of the store alone was handed out without being kept. */
    | 'not-kept'
    /** The password does not look like an app password. It may be that of the whole account. */
    | 'not-an-app-password'
  /** For people. Holds no secret. */
  readonly message: string
  readonly cause?: unknown
}

export type OnBlobDiagnostic = (diagnostic: BlobDiagnostic) => void

/** Reports to whoever listens. A listener that fails changes nothing for the call. */
export function createReport(listener: OnBlobDiagnostic | undefined): OnBlobDiagnostic {
  return (diagnostic) => {
    try {
      listener?.(diagnostic)
    } catch {
      // There is nobody left to tell.
    }
  }
}
