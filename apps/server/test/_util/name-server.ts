import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type DecodedPacket, decode, encode } from 'dns-packet'

/** A name server on loopback that knows the DIDs of handles, and says of all others that there is no such name. */
export interface NameServer extends Disposable {
  readonly address: string
  /** DIDs by handle; may be changed at any time. */
  readonly dids: Map<string, string>
}

export async function startNameServer(): Promise<NameServer> {
  const dids = new Map<string, string>()
  const socket = createSocket('udp4')
  socket.on('message', (message, from) => {
    const query: DecodedPacket = decode(message)
    const name = query.questions?.[0]?.name ?? ''
    const did = dids.get(name.replace(/^_atproto\./, ''))
    const packet = encode({
      type: 'response',
      id: query.id ?? 0,
      // 3: there is no such name
      flags: 0x0180 | (did === undefined ? 3 : 0),
      questions: query.questions ?? [],
      answers: did === undefined ? [] : [{ type: 'TXT', name, ttl: 0, data: `did=${did}` }],
    })
    socket.send(packet, from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { address: `127.0.0.1:${socket.address().port}`, dids, [Symbol.dispose]: () => void socket.close() }
}
