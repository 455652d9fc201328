#!/usr/bin/env node
import { main } from '../dist/conformance-server.js'

await main(process.argv.slice(2))
