/** What may wait for a reader of stderr, in bytes. Of more than that, whole texts are left out. */
const maxWaitingBytes = 256 * 1024
const retryMs = 50
/** How long the end of the process waits for a reader, in milliseconds. */
const lastMs = 300

/** Texts that stderr did not take yet, the first of them perhaps in part. */
const waiting: Uint8Array[] = []
let waitingBytes = 0
let leftOut = 0
let timer: NodeJS.Timeout | undefined
let isPrepared = false

/**
 * Writes text to stderr, at once where it is taken. Never waits for a reader: whoever started the program may not read what it says, and the
 * program would stand still for ever. What is not read is kept up to a limit; how much was left out is told when reading goes on. A reader
 * that went away is no error.
 */
export function printErr(text: string): void {
  prepare()
  const bytes = Buffer.from(text)
  const rest = waiting.length > 0 ? bytes : written(bytes)
  if (rest !== undefined) keep(rest)
}

/**
 * Node makes a pipe non-blocking when it makes the stream for it. The stream is not written to, since it would lose what is written last when the
 * process ends; where nothing is said, it is not made either, which costs a millisecond.
 */
function prepare(): void {
  if (isPrepared) return
  isPrepared = true
  try {
    const stat = process.getBuiltinModule('node:fs').fstatSync(2)
    if (stat.isFIFO() || stat.isSocket()) process.stderr.on('error', () => undefined)
  } catch {
    // There is no stderr, and writing will show it.
  }
  process.once('exit', writeLast)
}

/** Writes as much as is taken now. Gives the rest, if there is a chance that it is taken later. */
function written(bytes: Uint8Array): Uint8Array | undefined {
  const { writeSync } = process.getBuiltinModule('node:fs')
  let position = 0
  while (position < bytes.length) {
    try {
      position += writeSync(2, bytes, position)
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN'
      return isFull ? bytes.subarray(position) : undefined
    }
  }
  return undefined
}

function keep(bytes: Uint8Array): void {
  if (waiting.length > 0 && waitingBytes + bytes.length > maxWaitingBytes) {
    leftOut++
    return
  }
  waiting.push(bytes)
  waitingBytes += bytes.length
  timer ??= setInterval(writeWaiting, retryMs).unref()
}

function writeWaiting(): void {
  for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
    const rest = written(first)
    waitingBytes -= first.length - (rest?.length ?? 0)
    if (rest !== undefined) {
      waiting[0] = rest
      return
    }
    waiting.shift()
  }
  clearInterval(timer)
  timer = undefined
  const count = leftOut
  leftOut = 0
  if (count > 0) printErr(`(${count} lines were left out here, since nobody read them)\n`)
}

function writeLast(): void {
  const end = performance.now() + lastMs
  const pause = new Int32Array(new SharedArrayBuffer(4))
  while (waiting.length > 0 && performance.now() < end) {
    writeWaiting()
    if (waiting.length > 0) Atomics.wait(pause, 0, 0, 5)
  }
}
