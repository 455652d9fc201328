import { type LogFormat, type Logger, printable, printErr, type Redactor } from '@atenea/cli'

export interface CreateChildLogOptions {
  readonly logger: Logger
  readonly format: LogFormat
  readonly redactor: Pick<Redactor, 'redact'>
}

/** Hands on what a child writes to stderr, line by line, each with the name of its server before it, and without secrets. */
export function createChildLog(
  name: string,
  { logger, format, redactor }: CreateChildLogOptions,
): (line: string) => void {
  return (line) => {
    if (!logger.isOn('info')) return
    if (format === 'json') logger.info(line, { server: name, from: 'stderr' })
    else printErr(`[${name}] ${printable(redactor.redact(line))}\n`)
  }
}
