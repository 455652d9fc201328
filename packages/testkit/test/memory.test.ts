import { createMemoryPair } from '@atenea/mcpcompat/transport'
import { connectionSuite } from '../src/connection-suite.ts'
import { runEchoPeer } from '../src/echo-peer.ts'

const peers = new Set<Promise<void>>()

connectionSuite('memory', {
  principal: 'local',
  async open() {
    const [client, server] = createMemoryPair()
    const peer = runEchoPeer(server)
    peers.add(peer)
    return await Promise.resolve(client)
  },
  async allGone() {
    await Promise.all(peers)
    peers.clear()
  },
})
