import type { Redactor } from '@atenea/cli'
import type { BackendSetting } from './settings.ts'

/** Names of parameters of a URL that hold secrets, besides those that hold one anywhere. */
const secretParameter = /key|sig|code|auth|session/i

/** Shorter values are no secrets, and would be found by chance. */
const shortest = 6

/** Makes what is secret in how a server is reached unprintable: its headers, and what has a secret name in its environment, arguments and URL. */
export function addBackendSecrets({ target }: BackendSetting, redactor: Redactor): void {
  const add = (value: string): void => {
    if (value.length >= shortest) redactor.add(value)
  }
  switch (target.kind) {
    case 'command':
      for (const [name, value] of Object.entries(target.env)) if (redactor.isSecretName(name)) add(value)
      for (const value of secretWords(target.args, redactor)) add(value)
      return
    case 'http':
    case 'sse': {
      for (const value of Object.values(target.headers)) {
        add(value)
        // `Bearer abc` is also shown without the scheme
        add(value.replace(/^\S+\s+/, ''))
      }
      const { username, password, searchParams } = new URL(target.url)
      add(decodeURIComponent(username))
      add(decodeURIComponent(password))
      for (const [name, value] of searchParams) {
        if (redactor.isSecretName(name) || secretParameter.test(name)) add(value)
      }
      return
    }
    case 'socket':
  }
}

/** `--token abc`, `--api-key=abc`, `-e TOKEN=abc`. */
function secretWords(args: readonly string[], redactor: Redactor): string[] {
  return args.flatMap((arg, index) => {
    const [name = '', ...rest] = arg.split('=')
    if (rest.length > 0) return redactor.isSecretName(name) ? [rest.join('=')] : []
    const before = args[index - 1] ?? ''
    return /^--?\w/.test(before) && !before.includes('=') && redactor.isSecretName(before) ? [arg] : []
  })
}
