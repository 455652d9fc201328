import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createSdkV2Server } from './sdk-v2-server.ts'

serveStdio(createSdkV2Server)
