/** Makes a signal that asks this process to end an exit, so that what is to be done at its exit is done. */
export function exitOnSignals(): void {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
}
