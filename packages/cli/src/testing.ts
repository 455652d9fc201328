// for tests of the binaries; none of it gets into them
export type { AppProcessOptions, Ended, WireMessage } from './testing/app-process.ts'
export { AppProcess } from './testing/app-process.ts'
