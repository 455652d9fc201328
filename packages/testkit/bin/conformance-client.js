#!/usr/bin/env node
import { main } from '../dist/conformance-client.js'

await main(process.argv.slice(2), process.env)
