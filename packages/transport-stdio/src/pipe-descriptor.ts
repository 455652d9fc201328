/**
 * Whether a file descriptor is a pipe or a socket, as those of a server under an MCP client are. Pipes of Windows are of
 * another kind and do not count.
 */
export function isPipe(fd: number): boolean {
  if (process.platform === 'win32') return false
  const stats = process.getBuiltinModule('node:fs').fstatSync(fd)
  return stats.isFIFO() || stats.isSocket()
}
