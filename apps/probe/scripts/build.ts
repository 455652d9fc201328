/** Bundles the probe. Run after `tsc -b`, which checks the types and builds the packages. */
import { join } from 'node:path'
import { bundleApp } from '@atenea/bundle'

await bundleApp({ folder: join(import.meta.dirname, '..'), target: 'node20.19' })
