import { describe, expect, expectTypeOf, test } from 'vitest'
import { exitCode } from './exit-codes.ts'
import { flag, parseFlags } from './flags.ts'

const flags = {
  stdio: flag.switch('serve on stdin and stdout'),
  socket: flag.texts('PATH', 'listen'),
  config: flag.text('FILE', 'configuration'),
  protocol: flag.choice(['both', 'legacy', 'modern'], 'eras', { default: 'both' }),
  'max-bytes': flag.integer('N', 'limit', { min: 1, max: 1000 }),
  help: flag.switch('this text', { short: 'h' }),
}

describe('flags', () => {
  test('values have the type of their flag, and are undefined when not given', () => {
    const { values, positionals } = parseFlags(flags, ['--protocol', 'legacy', 'status', '--max-bytes=20'])
    expectTypeOf(values.protocol).toEqualTypeOf<'both' | 'legacy' | 'modern' | undefined>()
    expectTypeOf(values.socket).toEqualTypeOf<readonly string[] | undefined>()
    expectTypeOf(values['max-bytes']).toEqualTypeOf<number | undefined>()
    expectTypeOf(values.stdio).toEqualTypeOf<true | undefined>()
    expect(values).toEqual({
      stdio: undefined,
      socket: undefined,
      config: undefined,
      protocol: 'legacy',
      'max-bytes': 20,
      help: undefined,
    })
    expect(positionals).toEqual(['status'])
  })

  test('a repeatable flag keeps all values, another one the last', () => {
    const { values } = parseFlags(flags, ['--socket', 'a', '--config=x', '--socket=b', '--config', 'y'])
    expect(values.socket).toEqual(['a', 'b'])
    expect(values.config).toBe('y')
  })

  test('short names, and words after --', () => {
    const { values, positionals } = parseFlags(flags, ['-h', '--', '--stdio', 'x'])
    expect(values.help).toBe(true)
    expect(values.stdio).toBeUndefined()
    expect(positionals).toEqual(['--stdio', 'x'])
  })

  test.each([
    [['--sokcet', 'x'], 'unknown flag --sokcet; did you mean --socket?'],
    [['--protocl=legacy'], 'unknown flag --protocl; did you mean --protocol?'],
    [['--verbose'], 'unknown flag --verbose'],
    [['-x'], 'unknown flag -x'],
    [['--constructor'], 'unknown flag --constructor'],
    [['--__proto__', 'x'], 'unknown flag --__proto__'],
    [['--protocol', 'modren'], '--protocol must be one of both, legacy, modern, not "modren"; did you mean modern?'],
    [['--config'], '--config needs a value: --config FILE'],
    [
      ['--config', '--stdio'],
      '--config needs a value: --config FILE (for one that begins with a hyphen write --config=--stdio)',
    ],
    [['--config='], '--config needs a value that is not empty'],
    [['--socket', ''], '--socket needs a value that is not empty'],
    [['--stdio=yes'], '--stdio takes no value'],
    [['--max-bytes', '1e3'], '--max-bytes must be a whole number from 1 to 1000, not "1e3"'],
    [['--max-bytes', '0'], '--max-bytes must be a whole number from 1 to 1000, not "0"'],
    [['--max-bytes', '9007199254740993000'], '--max-bytes must be a whole number from 1 to 1000'],
  ])('%j is refused: %s', (args, message) => {
    expect(() => parseFlags(flags, args)).toThrow(message)
    expect(() => parseFlags(flags, args)).toThrow(expect.objectContaining({ exitCode: exitCode.usage }))
  })
})
