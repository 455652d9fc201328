import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type DecodedPacket, decode, encode } from 'dns-packet'
import { onTestFinished } from 'vitest'

/** What a name is answered with: TXT records, no such name, or a failure of the server; `silence` is no answer. */
export type TxtAnswer = readonly (string | readonly string[])[] | 'no-name' | 'failure' | 'silence'

/** A name server of the test that calls this, on loopback. Gives its address for `nameservers`, and the names it was asked for. */
export async function dnsServer(
  answers: Readonly<Record<string, TxtAnswer>>,
): Promise<{ readonly address: string; readonly asked: string[] }> {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (message, from) => {
    const query: DecodedPacket = decode(message)
    const name = query.questions?.[0]?.name ?? ''
    asked.push(name)
    const answer = answers[name] ?? 'no-name'
    if (answer === 'silence') return
    // 3: no such name, 2: the server failed
    const code = answer === 'no-name' ? 3 : answer === 'failure' ? 2 : 0
    const records = typeof answer === 'string' ? [] : answer
    const packet = encode({
      type: 'response',
      id: query.id ?? 0,
      flags: 0x0180 | code,
      questions: query.questions ?? [],
      answers: records.map((data) => ({
        type: 'TXT',
        name,
        ttl: 0,
        data: typeof data === 'string' ? data : [...data],
      })),
    })
    socket.send(packet, from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}
