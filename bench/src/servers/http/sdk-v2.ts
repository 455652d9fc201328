import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { createSdkV2Server } from '../sdk-v2-server.ts'
import { listen } from './listen.ts'
import { onSignals } from './on-signals.ts'

const handler = createMcpHandler(createSdkV2Server, { maxSubscriptions: 20_000 })
const onRequest = toNodeHandler(handler)
listen((req, res) => void onRequest(req as Parameters<typeof onRequest>[0], res))
onSignals(() => handler.notify.toolsChanged())
