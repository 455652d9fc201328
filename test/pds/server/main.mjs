/**
 * A PDS and a directory of did:plc on loopback, both real, both empty. Prints where they are as one line of JSON, and ends
 * with its standard input. Everything that it writes is in a temporary folder, which it deletes.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

process.env.LOG_ENABLED ??= 'false'
const { PDS } = await import('@atproto/pds')
const { Database, PlcServer } = await import('@did-plc/server')
const { Secp256k1Keypair } = await import('@atproto/crypto')

/** Both servers would listen on all interfaces. */
function onLoopback(server) {
  server.app.listen = (port) => createServer(server.app).listen(port, '127.0.0.1')
  return server
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

const folder = await mkdtemp(join(tmpdir(), 'pds-'))
const plcPort = await freePort()
const plc = onLoopback(PlcServer.create({ db: Database.mock(), port: plcPort }))
await plc.start()

const rotationKey = await Secp256k1Keypair.create({ exportable: true })
const recoveryKey = await Secp256k1Keypair.create()
const pdsPort = await freePort()
const pds = onLoopback(
  await PDS.fromEnv({
    devMode: true,
    port: pdsPort,
    dataDirectory: folder,
    blobstoreDiskLocation: join(folder, 'blobs'),
    // By name: the PDS refuses hosts that are addresses, whatever else is allowed.
    didPlcUrl: `http://localhost:${plcPort}`,
    enableDidDocWithSession: true,
    recoveryDidKey: recoveryKey.did(),
    plcRotationKeyK256PrivateKeyHex: Buffer.from(await rotationKey.export()).toString('hex'),
    adminPassword: randomBytes(16).toString('hex'),
    jwtSecret: randomBytes(16).toString('hex'),
    serviceHandleDomains: ['.test'],
    inviteRequired: false,
    disableSsrfProtection: true,
    // It has to have one, and nothing here asks it.
    bskyAppViewUrl: 'http://127.0.0.1:1',
    bskyAppViewDid: 'did:example:nobody',
  }),
)
await pds.start()

const where = {
  plcUrl: `http://localhost:${plcPort}`,
  pdsUrl: `http://localhost:${pdsPort}`,
  pdsDid: pds.ctx.cfg.service.did,
  blobFolder: join(folder, 'blobs'),
}
process.stdout.write(`${JSON.stringify(where)}\n`)

process.stdin.resume()
await new Promise((resolve) => process.stdin.once('end', resolve))
await pds.destroy()
await plc.destroy()
await rm(folder, { recursive: true, force: true })
