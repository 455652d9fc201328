import { type AppContext, type ExitCode, isTerminal, type Logger, mayUseColour, UsageError } from '@atenea/cli'
import type { SignInRequest } from './auth/sign-in.ts'
import { exitCodeOfRun } from './exit-code.ts'
import { createStyle, type Style } from './output/style.ts'
import { probeAll } from './probe-all.ts'
import { createProgress } from './progress.ts'
import type { ProbeTarget, Report } from './report.ts'
import type { NotProbed, Run } from './run.ts'
import type { Settings } from './settings.ts'
import { noTarget, targetOfCommand, targetOfWord, targetsOfConfig } from './targets.ts'
import { withoutSecrets } from './without-secrets.ts'
import { writeResult } from './write-result.ts'

type Words = readonly string[]

/** One run of the binary, with what its command line says. */
export class Program {
  readonly #settings: Settings
  readonly #context: AppContext
  readonly #logger: Logger

  constructor(settings: Settings, context: AppContext) {
    this.#settings = settings
    this.#context = context
    this.#logger = context.log(settings.logLevel, settings.logFormat)
  }

  /** Probes what the words name, or the command that stands after `--`, and writes what was found. */
  async probe(words: Words, command: Words | undefined): Promise<ExitCode> {
    const { config, failOn, html, output } = this.#settings
    const { targets, notProbed } = await this.#targets(words, command)
    if (targets.length + notProbed.length === 0) throw new UsageError(`${config} has no servers`)
    const run: Run = { reports: await this.#probeAll(targets), notProbed, config }
    await writeResult(await this.#rendered(run), output)
    if (html !== undefined) {
      const { runHtml } = await import('./output/html/page.ts')
      await writeResult(runHtml(run), html)
    }
    return exitCodeOfRun(run, failOn)
  }

  /** Compares two servers, or saved reports of them. */
  async diff(words: Words, command: Words | undefined): Promise<ExitCode> {
    if (command !== undefined) {
      throw new UsageError('diff takes no command; put it into a file of "mcpServers" and name that with --config')
    }
    const { runDiff } = await import('./diff/run-diff.ts')
    const { text, code } = await runDiff(words, this.#settings, {
      style: this.#style(),
      configured: async (file, name) => await this.#configured(file, [name]),
      probe: async (target) => {
        const [report] = await this.#probeAll([target])
        if (report === undefined) throw new Error('a probe gave no report')
        return report
      },
    })
    await writeResult(text, this.#settings.output)
    return code
  }

  async #targets(
    words: Words,
    command: Words | undefined,
  ): Promise<{ readonly targets: readonly ProbeTarget[]; readonly notProbed: readonly NotProbed[] }> {
    const { config, headers, call } = this.#settings
    const hasHeaders = Object.keys(headers).length > 0
    if (config !== undefined) {
      if (command !== undefined) throw new UsageError('either --config or a command after --, not both')
      if (hasHeaders) throw new UsageError('--header goes with a URL; those of configured servers stand in the file')
      if (call !== undefined) throw new UsageError('--call goes with one server, not with --config')
      return await this.#configured(config, words)
    }
    const named = words.map((word, index) => {
      const target = targetOfWord(word, headers)
      if (target === undefined) throw noTarget(words.slice(index))
      return target
    })
    const [target, ...more] = command === undefined ? named : [...named, targetOfCommand(command)]
    if (target === undefined) throw new UsageError('what to probe? Give a URL, unix:PATH, -- COMMAND, or --config FILE')
    if (more.length > 0) throw new UsageError('one server at a time; several stand in a file that --config names')
    if (target.kind !== 'url' && hasHeaders) throw new UsageError('--header goes with a URL')
    return { targets: [target], notProbed: [] }
  }

  async #configured(file: string, names: Words): ReturnType<typeof targetsOfConfig> {
    const { environment, redactor } = this.#context
    const configured = await targetsOfConfig(file, names, environment, redactor)
    for (const warning of configured.warnings) this.#logger.warning(warning)
    return configured
  }

  async #probeAll(targets: readonly ProbeTarget[]): Promise<readonly Report[]> {
    const { protocol, policy, timeoutMs, call, logLevel, signsIn } = this.#settings
    const { environment, redactor, shutdown } = this.#context
    using progress = createProgress(targets.length, logLevel !== 'silent', environment)
    const redact = (text: string): string => redactor.redact(text)
    const signIn = signsIn ? async (request: SignInRequest) => await this.#signIn(request) : undefined
    const options = { protocol, policy, timeoutMs, call, redact, signal: shutdown, signIn }
    const reports = await probeAll(targets, options, progress)
    return reports.map((report) => withoutSecrets(report, (text) => redactor.redactKnown(text)))
  }

  async #signIn(request: SignInRequest): Promise<string> {
    const { environment, redactor } = this.#context
    const { signIn } = await import('./auth/sign-in.ts')
    const value = await signIn(request, environment)
    redactor.add(value.replace(/^\S+\s+/, ''))
    return value
  }

  /** Each form is loaded when it is asked for. */
  async #rendered(run: Run): Promise<string> {
    const { format, failOn } = this.#settings
    switch (format) {
      case 'text':
        return (await import('./output/text.ts')).runText(run, this.#style())
      case 'json':
        return (await import('./output/json.ts')).runJson(run)
      case 'junit':
        return (await import('./output/junit.ts')).runJunit(run, failOn)
      case 'sarif':
        return (await import('./output/sarif.ts')).runSarif(run)
    }
  }

  #style(): Style {
    if (this.#settings.output !== undefined) return createStyle(false)
    return createStyle(mayUseColour(this.#context.environment, 1), isTerminal(1) ? process.stdout.columns : undefined)
  }
}
