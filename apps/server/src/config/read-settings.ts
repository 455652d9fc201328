import { UsageError } from '@atenea/cli'
import { readFrontSettings } from '@atenea/fronts'
import { dirname, resolve } from 'node:path'
import type { CommandLine } from '../command-line.ts'
import { type Settings, socketFile } from '../settings.ts'
import { readAtprotoSettings } from './atproto-settings.ts'
import type { Config } from './schema.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Settings from the command line and the configuration file that it names. Throws a `UsageError` that says what is wrong where. */
export async function readSettings({ values }: CommandLine, environment: Environment): Promise<Settings> {
  const file = values.config
  const config: Config = file === undefined ? {} : await readConfig(file, environment)
  const folder = file === undefined ? '.' : dirname(resolve(file))
  const staticResources = (config.resources ?? []).map((resource) => ({
    ...resource,
    ...(resource.file !== undefined && { file: readableFile(resource.file, folder) }),
  }))
  return {
    ...readFrontSettings(values, config, { folder, environment, socketFile }),
    tools: {
      enabled: values['allow-tool'] ?? config.enabledTools,
      disabled: [...(config.disabledTools ?? []), ...(values['deny-tool'] ?? [])],
    },
    prompts: { enabled: config.enabledPrompts, disabled: config.disabledPrompts },
    resources: { enabled: config.enabledResources, disabled: config.disabledResources },
    policy: config.policy,
    staticResources,
    atproto: readAtprotoSettings({ values }, config, folder, environment),
  }
}

/** The absolute path of a file that a resource serves. A missing file is told at the start, not when a client asks for it. */
function readableFile(given: string, folder: string): string {
  const file = resolve(folder, given)
  const { accessSync, constants, statSync } = process.getBuiltinModule('node:fs')
  try {
    accessSync(file, constants.R_OK)
    if (statSync(file).isFile()) return file
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`the file of a resource cannot be read: ${reason}`, { cause })
  }
  throw new UsageError(`the file of a resource is no regular file: ${file}`)
}

async function readConfig(file: string, environment: Environment): Promise<Config> {
  const { loadConfig } = await import('@atenea/cli/config')
  const { configSchema } = await import('./schema.ts')
  return await loadConfig({ file, schema: configSchema, environment })
}
