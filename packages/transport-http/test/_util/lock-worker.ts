import { readFileSync, writeFileSync } from 'node:fs'
import { withFileLock } from '../../src/oauth/node/file-lock.ts'

// Adds one to the number in a file, so often; or holds the lock until it is killed.
const [lock = '', counter = '', times = ''] = process.argv.slice(2)
if (times === 'hold') {
  await withFileLock(lock, async () => {
    process.stdout.write('held\n')
    await new Promise((resolve) => void setTimeout(resolve, 60_000))
  })
}
for (let time = 0; time < Number(times); time++) {
  await withFileLock(lock, async () => {
    const number = Number(readFileSync(counter, 'utf8'))
    await new Promise((resolve) => void setTimeout(resolve, 2))
    writeFileSync(counter, String(number + 1))
  })
}
