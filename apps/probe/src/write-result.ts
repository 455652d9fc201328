import { ExitError, exitCode, printOut } from '@atenea/cli'

/** Writes a result to a file, or to stdout. A reader of stdout that went away is no error; a file that cannot be written is. */
export async function writeResult(text: string, file: string | undefined): Promise<void> {
  const { writeFile } = process.getBuiltinModule('node:fs/promises')
  try {
    if (file === undefined) printOut(text)
    else await writeFile(file, text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ExitError(exitCode.usage, `cannot write the result: ${reason}`, { cause })
  }
}
