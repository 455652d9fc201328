/** As much of a package registry as npm needs to publish and to look up, on the loopback interface. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What was published, as the registry keeps it. */
export interface PublishedVersion {
  readonly name: string
  readonly version: string
  readonly repository?: { readonly url: string; readonly directory: string }
  readonly dependencies?: Readonly<Record<string, string>>
}

export interface LocalRegistry extends AsyncDisposable {
  readonly url: string
  /** In the order in which they came. */
  readonly published: readonly PublishedVersion[]
}

interface Packument {
  readonly name: string
  readonly versions: Record<string, PublishedVersion>
}

export async function startRegistry(): Promise<LocalRegistry> {
  const packuments = new Map<string, Packument>()
  const published: PublishedVersion[] = []
  const server = createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname.slice(1))
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (request.method !== 'PUT') {
      const packument = packuments.get(name)
      return packument === undefined ? answer(404, { error: 'not found' }) : answer(200, packument)
    }
    void textOf(request).then((text) => {
      const sent = JSON.parse(text) as Packument
      const [version] = Object.values(sent.versions)
      if (version === undefined || packuments.get(name)?.versions[version.version] !== undefined) {
        return answer(409, { error: 'there is such a version' })
      }
      published.push(version)
      packuments.set(name, { ...sent, versions: { ...packuments.get(name)?.versions, [version.version]: version } })
      answer(201, { ok: true })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    published,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  request.setEncoding('utf8')
  for await (const chunk of request) text += chunk as string
  return text
}
