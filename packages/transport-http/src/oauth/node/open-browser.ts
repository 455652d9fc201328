type Environment = Readonly<Record<string, string | undefined>>

/** Whether somebody can be expected to see a browser that this process opens. */
export function hasBrowser(environment: Environment, platform: NodeJS.Platform = process.platform): boolean {
  if (environment['BROWSER'] === 'none') return false
  if (environment['BROWSER'] !== undefined && environment['BROWSER'] !== '') return true
  if (platform === 'win32') return true
  const isRemote = environment['SSH_CONNECTION'] !== undefined || environment['SSH_TTY'] !== undefined
  if (platform === 'darwin') return !isRemote
  return (environment['DISPLAY'] ?? environment['WAYLAND_DISPLAY'] ?? '') !== ''
}

/**
 * Opens a page in the browser of the one who sits at this machine: with the command that `BROWSER` names, else as the platform does it.
 * Resolves with whether a program took it; what happens there is not waited for.
 */
export async function openBrowser(
  url: string,
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  const [command, ...args] = commandFor(environment, platform)
  if (command === undefined) return false
  const { spawn } = process.getBuiltinModule('node:child_process')
  return await new Promise((resolve) => {
    // Without a shell, so that nothing of the URL can be taken for a command.
    const child = spawn(command, [...args, url], {
      stdio: 'ignore',
      detached: true,
      windowsHide: true,
      env: withoutOurs(process.env),
    })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

/** Secrets of ours that come by the environment are no browser's business. */
function withoutOurs(environment: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('ATENEA_')))
}

function commandFor(environment: Environment, platform: NodeJS.Platform): readonly string[] {
  const own = environment['BROWSER']
  if (own !== undefined && own !== '' && own !== 'none') return [own]
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return ['xdg-open']
}
