export type { CreateLoopbackReceiverOptions } from './loopback-receiver.ts'
export { createLoopbackReceiver } from './loopback-receiver.ts'
