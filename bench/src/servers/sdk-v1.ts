import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createSdkV1Server } from './sdk-v1-server.ts'

await createSdkV1Server().connect(new StdioServerTransport())
