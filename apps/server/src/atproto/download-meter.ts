import type { HttpClient, HttpResponse } from '@atenea/blobs'

/** How far a download is, in bytes. */
export interface DownloadProgress {
  readonly received: number
  /** As the answer says, if it does. */
  readonly total: number | undefined
}

/** Knows how far the downloads of blobs are that run. Callers who wait for the same blob share one download, so all see the same. */
export interface DownloadMeter {
  /** The client with its downloads counted. Nothing else of it changes. */
  metered(http: HttpClient): HttpClient
  /** Undefined while nothing came. */
  progressOf(did: string, cid: string): DownloadProgress | undefined
}

const method = '/xrpc/com.atproto.sync.getBlob'

export function createDownloadMeter(): DownloadMeter {
  const running = new Map<string, DownloadProgress>()

  async function* counted(key: string, response: HttpResponse): AsyncGenerator<Uint8Array, void> {
    const length = response.header('content-length')
    const total = length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
    let received = 0
    try {
      for await (const chunk of response.body) {
        received += chunk.length
        running.set(key, { received, total })
        yield chunk
      }
    } finally {
      running.delete(key)
    }
  }

  return {
    progressOf: (did, cid) => running.get(`${did} ${cid}`),
    metered: (http) => ({
      async request(request) {
        const response = await http.request(request)
        const { pathname, searchParams } = request.url
        if (request.method !== 'GET' || pathname !== method || response.status !== 200) return response
        const key = `${searchParams.get('did')} ${searchParams.get('cid')}`
        return {
          status: response.status,
          url: response.url,
          redirects: response.redirects,
          header: (name) => response.header(name),
          body: counted(key, response),
          [Symbol.dispose]: () => response[Symbol.dispose](),
        }
      },
      [Symbol.dispose]: () => http[Symbol.dispose](),
    }),
  }
}
