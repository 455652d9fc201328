import { exitCode } from './exit-codes.ts'

/** What the exit codes of a program mean, where it has something to say of them. */
export type ExitCodeMeanings = Readonly<Partial<Record<keyof typeof exitCode, string>>>

/** The codes as terms of a help text, in the order of their numbers. */
export function exitCodeTerms(meanings: ExitCodeMeanings): readonly (readonly [string, string])[] {
  return Object.entries(exitCode).flatMap(([key, code]): (readonly [string, string])[] => {
    const meaning = meanings[key as keyof typeof exitCode]
    return meaning === undefined ? [] : [[String(code), meaning]]
  })
}
