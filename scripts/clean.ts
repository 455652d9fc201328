/** `pnpm clean`: removes all that a build leaves, so that the next one starts from the sources alone. */
import { readdirSync, rmSync } from 'node:fs'

const members = ['packages', 'apps'].flatMap((kind) => readdirSync(kind).map((name) => `${kind}/${name}`))
for (const folder of [...members, 'bench']) {
  for (const built of ['dist', 'tsconfig.tsbuildinfo', 'tsconfig.node.tsbuildinfo', '.turbo']) {
    rmSync(`${folder}/${built}`, { recursive: true, force: true })
  }
}
for (const cache of ['.turbo', 'node_modules/.cache/turbo', 'node_modules/.cache/tsconfig.tsbuildinfo']) {
  rmSync(cache, { recursive: true, force: true })
}
