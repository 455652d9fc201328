import { safeUrl } from '../../safe-url.ts'
import { createBrowserFlow } from '../flows/browser-flow.ts'
import { createDeviceFlow, type DevicePrompt, offersDeviceFlow } from '../flows/device-flow.ts'
import type { Flow } from '../flows/flow.ts'
import { createLoopbackReceiver } from './loopback-receiver.ts'
import { hasBrowser, openBrowser } from './open-browser.ts'

/** What the one who is to sign in has to know. */
export type SignInPrompt =
  | {
      readonly kind: 'browser'
      /** Its URL without what the query says. */
      readonly server: string
      readonly issuer: string
      /** The page where to sign in. */
      readonly url: string
      /** Whether a browser shows it already. */
      readonly opened: boolean
      /** The port of this machine that the browser comes back to. */
      readonly port: number
    }
  | ({ readonly kind: 'device'; readonly server: string; readonly issuer: string } & DevicePrompt)

export interface CreatePersonFlowOptions {
  /** Tells the one who is to sign in, on a screen and not in a log. */
  readonly tell: (prompt: SignInPrompt) => void
  /** Name of the program, for the page that ends the sign-in. */
  readonly name?: string | undefined
  /** `browser` and `device` insist on one of them. Default `auto`: the browser where there is one, else the other device. */
  readonly way?: 'auto' | 'browser' | 'device' | undefined
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** How long somebody may take to sign in. Default 300,000 ms. */
  readonly timeoutMs?: number | undefined
}

/** Somebody signs in: with a browser on this machine, or, where there is none, with another device and a code. */
export function createPersonFlow(options: CreatePersonFlowOptions): Flow {
  const { tell, name, way = 'auto', environment = process.env, timeoutMs } = options
  const canOpen = hasBrowser(environment)
  return {
    interactive: true,
    run: async (context) => {
      const { issuer, serverUrl } = context
      const about = { server: safeUrl(serverUrl), issuer: issuer.issuer }
      if (way === 'device' || (way === 'auto' && !canOpen && offersDeviceFlow(issuer))) {
        return await createDeviceFlow({ show: (prompt) => tell({ kind: 'device', ...about, ...prompt }) }).run(context)
      }
      let port = 0
      const flow = createBrowserFlow({
        timeoutMs,
        listen: async (preferred) => {
          const receiver = await createLoopbackReceiver({ preferred, name })
          port = Number(new URL(receiver.uri).port)
          return receiver
        },
        open: async (url) => {
          const opened = canOpen && (await openBrowser(url, environment))
          tell({ kind: 'browser', ...about, url, opened, port })
        },
      })
      return await flow.run(context)
    },
  }
}
