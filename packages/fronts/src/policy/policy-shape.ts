import * as z from 'zod'
import type { PolicyRule } from './policy-rule.ts'

const globs = (what: string): z.ZodOptional<z.ZodArray<z.ZodString>> =>
  z
    .array(
      z
        .string()
        .min(1)
        // an even number of backslashes are characters, the last of an odd one escapes nothing
        .refine((glob) => (/\\*$/.exec(glob)?.[0].length ?? 0) % 2 === 0, 'ends in a backslash that escapes nothing'),
    )
    .describe(what)
    .optional()

const rule: z.ZodType<PolicyRule> = z.strictObject({
  principals: globs(
    'Who it is for: ISSUER#SUBJECT, ISSUER?client=ID, bearer:NAME of the file of tokens, uid:NUMBER (sockets), local (stdio); * stands for any characters, and ? for itself. Default: everybody.',
  ),
  scopes: z.array(z.string().min(1)).optional().describe('Scopes that the token must have, all of them.'),
  enabledTools: globs('Tools that may be used. Default: all that are served.'),
  disabledTools: globs('Tools that may not, even if another rule enables them.'),
  enabledPrompts: globs('Prompts that may be used. Default: all that are served.'),
  disabledPrompts: globs('Prompts that may not.'),
  enabledResources: globs('Resources that may be used, by URI. Default: all that are served.'),
  disabledResources: globs('Resources that may not.'),
})

/** `policy` of a configuration file, for programs that know it. */
export const policyShape: { readonly policy: z.ZodOptional<z.ZodArray<typeof rule>> } = {
  policy: z
    .array(rule)
    .min(1)
    .optional()
    .describe(
      'Who may use what, of all that is served. Without it everybody may use everything; with it, whoever no rule is for nothing.',
    ),
}
