import type { SignInPrompt } from './person-flow.ts'

/** What the one who is to sign in has to read, in lines for a terminal. */
export function signInPromptText(prompt: SignInPrompt): string {
  const lines = prompt.kind === 'device' ? deviceLines(prompt) : browserLines(prompt)
  return `\n${[`${prompt.server} wants a sign-in at ${prompt.issuer}.`, ...lines].join('\n')}\n\n`
}

type PromptOf<Kind> = SignInPrompt & { readonly kind: Kind }

function deviceLines({ url, urlWithCode, code, expiresInMs }: PromptOf<'device'>): readonly string[] {
  const minutes = Math.max(1, Math.round(expiresInMs / 60_000))
  return [
    `Open on any device:  ${url}`,
    `and type the code:   ${code}`,
    ...(urlWithCode === undefined ? [] : [`or open:             ${urlWithCode}`]),
    `The code is good for ${minutes} minute${minutes === 1 ? '' : 's'}.`,
  ]
}

function browserLines({ url, opened, port }: PromptOf<'browser'>): readonly string[] {
  return opened
    ? ['A browser window shows where. If none has opened, open this page on this machine:', url]
    : [
        'Open this page with a browser on this machine:',
        url,
        `With a browser on another machine, let it reach this one first: ssh -L ${port}:127.0.0.1:${port} THIS-MACHINE`,
      ]
}
