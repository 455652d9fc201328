/** `pnpm clean`: removes all that a build leaves, so that the next one starts from the sources alone. */
import { readdirSync, rmSync } from 'node:fs'

const members = ['packages', 'apps'].flatMap((kind) => readdirSync(kind).map((name) => `${kind}/${name}`))
for (const folder of [...members, 'bench']) {
  const built = readdirSync(folder).filter((name) => /^(?:dist|\.turbo|.*\.tsbuildinfo)$/.test(name))
  for (const name of [...built, 'node_modules/.cache']) rmSync(`${folder}/${name}`, { recursive: true, force: true })
}
for (const cache of ['.turbo', 'node_modules/.cache/turbo', 'node_modules/.cache/tsconfig.tsbuildinfo']) {
  rmSync(cache, { recursive: true, force: true })
}
