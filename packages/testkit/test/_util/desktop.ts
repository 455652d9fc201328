import { chmodSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { browse } from './person.ts'

/** The desk of somebody: programs show pages there by the command in `BROWSER`, and the one who sits there visits them. */
export class Desktop implements AsyncDisposable {
  /** Pages in the order in which they were shown. */
  readonly shown: string[] = []
  /** What is done with a page; `undefined` for nothing. */
  visit: ((url: string) => Promise<unknown>) | undefined = browse
  /** The command for `BROWSER`. */
  readonly command: string
  readonly #server: Server
  readonly #visits = new Set<Promise<unknown>>()

  private constructor(server: Server, folder: string) {
    this.#server = server
    this.command = join(folder, 'browser')
    const script = join(folder, 'browser.mjs')
    const { port } = server.address() as AddressInfo
    writeFileSync(script, `await fetch('http://127.0.0.1:${port}/', { method: 'POST', body: process.argv[2] })\n`)
    writeFileSync(this.command, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$1"\n`)
    chmodSync(this.command, 0o700)
    server.on('request', (request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => (text += chunk.toString()))
      request.on('end', () => {
        response.end()
        this.shown.push(text)
        if (this.visit === undefined) return
        const visit = this.visit(text).catch(() => undefined)
        this.#visits.add(visit)
      })
    })
  }

  /** `folder` gets the command. */
  static async open(folder: string): Promise<Desktop> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Desktop(server, folder)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#visits)
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }
}
