import { printable } from '@atenea/cli'
import type { SignInPrompt } from '@atenea/transport-http/oauth/node'

/** What the one who is to sign in reads. */
export function promptText(prompt: SignInPrompt): string {
  const lines = prompt.kind === 'device' ? deviceLines(prompt) : browserLines(prompt)
  return `\n${[`${prompt.server} wants a sign-in at ${prompt.issuer}.`, ...lines].map((line) => printable(line)).join('\n')}\n\n`
}

function deviceLines({ url, urlWithCode, code, expiresInMs }: SignInPrompt & { readonly kind: 'device' }): string[] {
  const minutes = Math.max(1, Math.round(expiresInMs / 60_000))
  return [
    `Open on any device:  ${url}`,
    `and type the code:   ${code}`,
    ...(urlWithCode === undefined ? [] : [`or open:             ${urlWithCode}`]),
    `The code is good for ${minutes} minute${minutes === 1 ? '' : 's'}.`,
  ]
}

function browserLines({ url, opened, port }: SignInPrompt & { readonly kind: 'browser' }): string[] {
  return opened
    ? ['A browser window shows where. If none has opened, open this page on this machine:', url]
    : [
        'Open this page with a browser on this machine:',
        url,
        `With a browser on another machine, let it reach this one first: ssh -L ${port}:127.0.0.1:${port} THIS-MACHINE`,
      ]
}
