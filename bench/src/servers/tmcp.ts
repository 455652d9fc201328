import { StdioTransport } from '@tmcp/transport-stdio'
import { server } from './tmcp-server.ts'

new StdioTransport(server).listen()
