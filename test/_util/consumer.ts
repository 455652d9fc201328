/** An empty npm project into which packed members are installed, as a user would. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { outputOf } from '../../scripts/run-command.ts'
import type { Tarball } from '../packed/_setup.ts'
import { rootDir } from './workspace.ts'

/** The project; disposing of it deletes its folder. */
export interface Consumer extends Disposable {
  readonly folder: string
  /** Copies a file or a folder of the repository into the project. */
  copy(from: string, to: string): void
  write(name: string, text: string): void
  /** Runs a command in the project and gives what it printed; throws when it fails. */
  run(command: string, args: readonly string[]): Promise<string>
}

/** Installs packed members with the siblings that they depend on, and further packages of npm. */
export async function installConsumer(
  tarballs: readonly Tarball[],
  names: readonly string[],
  extra: readonly string[] = [],
): Promise<Consumer> {
  const folder = mkdtempSync(join(tmpdir(), 'atenea-consumer-'))
  const consumer: Consumer = {
    folder,
    copy: (from, to) => cpSync(join(rootDir, from), join(folder, to), { recursive: true }),
    write: (file, text) => writeFileSync(join(folder, file), text),
    run: (command, args) => outputOf(command, args, { cwd: folder, timeoutMs: 120_000 }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
  consumer.write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  const paths = withSiblings(tarballs, names).map((tarball) => tarball.path)
  await consumer.run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...paths, ...extra])
  return consumer
}

/** The members and all siblings below them. */
function withSiblings(tarballs: readonly Tarball[], names: readonly string[]): Tarball[] {
  const found = new Set<Tarball>()
  const visit = (wanted: string): void => {
    const tarball = tarballs.find((one) => one.name === wanted)
    if (tarball === undefined || found.has(tarball)) return
    found.add(tarball)
    Object.keys(tarball.manifest.dependencies ?? {}).forEach(visit)
  }
  names.forEach(visit)
  return [...found]
}
