#!/usr/bin/env node
import { main } from '../dist/conformance-stdio.js'

await main(process.argv.slice(2))
