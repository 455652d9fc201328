import { fstatSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
