import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { exitCode, type ExitCode } from './exit-codes.ts'
import { ExitError, UsageError } from './exit-error.ts'
import { type ProgramContext, runProgram } from './program.ts'

/** Runs a program on a host of its own and gives what it logged and with what it ended. */
function start(main: (context: ProgramContext) => Promise<ExitCode>): {
  host: EventEmitter
  logged: string[]
  exits: number[]
  done: Promise<void>
} {
  const host = new EventEmitter()
  const logged: string[] = []
  const exits: number[] = []
  const note = (message: string): number => logged.push(message)
  const done = runProgram({
    main,
    logger: { error: note, info: note },
    exit: (code) => exits.push(code),
    process: host as unknown as NodeJS.Process,
  })
  return { host, logged, exits, done }
}

function untilShutdown({ shutdown }: ProgramContext): Promise<ExitCode> {
  return new Promise((resolve) => {
    shutdown.addEventListener('abort', () => resolve(exitCode.ok))
  })
}

describe('programs', () => {
  test('end with the code of their work', async () => {
    const { exits, done, logged } = start(async () => exitCode.unreachable)
    await done
    expect(exits).toEqual([4])
    expect(logged).toEqual([])
  })

  test.each([
    [new UsageError('no such flag'), 2],
    [new ExitError(exitCode.authRequired, 'who are you?'), 3],
  ])('tell %s without a stack', async (error, code) => {
    const { exits, logged, done } = start(() => Promise.reject(error))
    await done
    expect(exits).toEqual([code])
    expect(logged).toEqual([error.message])
  })

  test('tell an unexpected error with its stack and its causes', async () => {
    const { exits, logged, done } = start(() => Promise.reject(new Error('outer', { cause: new TypeError('inner') })))
    await done
    expect(exits).toEqual([1])
    expect(logged[0]).toMatch(/^failed: Error: outer\n.*program\.test.*; caused by TypeError: inner/s)
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 0],
    ['SIGHUP', 0],
  ])('end in order on %s', async (signal, code) => {
    const { host, exits, done } = start(untilShutdown)
    host.emit(signal, signal)
    expect(exits).toEqual([])
    await done
    expect(exits).toEqual([code])
  })

  test('end at once on a second signal', () => {
    const { host, exits } = start(() => new Promise(() => {}))
    host.emit('SIGTERM', 'SIGTERM')
    expect(exits).toEqual([])
    host.emit('SIGINT', 'SIGINT')
    expect(exits).toEqual([130])
    // where the end itself is held up, the next one is the system's
    expect(['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => host.listenerCount(signal))).toEqual([0, 0, 0])
  })

  test.each(['uncaughtException', 'unhandledRejection'])('crash on %s with code 1 and a message', (event) => {
    const { host, exits, logged } = start(() => new Promise(() => {}))
    host.emit(event, new Error('boom'))
    expect(exits).toEqual([1])
    expect(logged[0]).toMatch(/^crashed: Error: boom/)
  })
})
