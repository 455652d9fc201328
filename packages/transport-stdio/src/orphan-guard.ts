import type { ChildProcessByStdio } from 'node:child_process'
import type { Writable } from 'node:stream'

/**
 * Reads `+GROUP` and `-GROUP` lines. The end of its input means that the process which wrote them is gone, however it went; then the
 * groups that are left get two seconds to notice the end of their own input, SIGTERM, two more seconds, and SIGKILL.
 */
const script = `
groups=
while read -r line; do
  case $line in
    +*) groups="$groups \${line#+}" ;;
    -*) kept=
        for group in $groups; do [ "$group" = "\${line#-}" ] || kept="$kept $group"; done
        groups=$kept ;;
  esac
done
alive() { for group in $groups; do kill -0 "-$group" 2>/dev/null && return 0; done; return 1; }
for signal in TERM KILL; do
  for second in 1 2; do alive || exit 0; sleep 1; done
  for group in $groups; do kill -$signal "-$group" 2>/dev/null; done
done
`

let guard: ReturnType<typeof start> | undefined
const groups = new Set<number>()

/**
 * Keeps a process group from outliving this process, also when this process is killed with SIGKILL and its children ignore the end
 * of their input. One small shell per process does that for all groups, and only while there are any. Where there is no `/bin/sh`,
 * and on Windows, nothing happens: there children have to notice the end of their input themselves.
 *
 * Returns what takes the group off the list again.
 */
export function guardGroup(group: number): () => void {
  if (process.platform === 'win32') return () => undefined
  groups.add(group)
  if (guard === undefined) guard = start()
  else guard.stdin.write(`+${group}\n`)
  return () => {
    if (!groups.delete(group)) return
    guard?.stdin.write(`-${group}\n`)
    if (groups.size > 0) return
    guard?.stdin.end()
    guard = undefined
  }
}

function start(): ChildProcessByStdio<Writable, null, null> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  // Its own session, so that a signal to our group, such as Ctrl+C, does not end it before us.
  const shell = spawn('/bin/sh', ['-c', script, `atenea-orphan-guard-of-${process.pid}`], {
    detached: true,
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const forget = (): void => {
    if (guard === shell) guard = undefined
  }
  shell.on('error', forget)
  shell.on('exit', forget)
  shell.stdin.on('error', forget)
  shell.stdin.write([...groups].map((group) => `+${group}\n`).join(''))
  // Neither may keep this process alive: its end is what the guard waits for.
  shell.unref()
  const pipe: Writable & { unref?(): void } = shell.stdin
  pipe.unref?.()
  return shell
}
