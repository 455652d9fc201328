import { z } from 'zod'
import { reportVersion } from './report.ts'

// Loose throughout: a report of a later version may have members more, and is still read.
const text = z.string()
const ms = z.number().min(0)
/** Whatever a server sent. */
const json = z.unknown()
const record = z.record(text, json)
const era = z.enum(['modern', 'legacy'])
const version = z.literal(reportVersion)

const step = z
  .looseObject({
    name: text,
    era: era.optional(),
    startMs: ms,
    durationMs: ms,
    ok: z.boolean(),
    detail: text.optional(),
  })
  .meta({
    id: 'step',
    description: 'One step on the way to an answer; times in milliseconds from the start of the probe.',
  })

const list = z.array(json)
const counts = z.looseObject({
  tools: z.int().min(0).optional(),
  prompts: z.int().min(0).optional(),
  resources: z.int().min(0).optional(),
  templates: z.int().min(0).optional(),
})

const eraReport = z
  .looseObject({
    verdict: z.enum(['works', 'works-with-defects', 'refuses', 'silent-downgrade', 'not-spoken', 'not-tried']),
    reason: text,
    requested: text.optional(),
    observed: text.optional(),
    supportedVersions: z.array(text).optional(),
    server: record.optional(),
    instructions: text.optional(),
    capabilities: record.optional(),
    counts,
    lists: z.looseObject({
      tools: list.optional(),
      prompts: list.optional(),
      resources: list.optional(),
      templates: list.optional(),
    }),
  })
  .meta({
    id: 'eraReport',
    description: 'What a client of one era meets; what was asked for and what was shown are kept apart.',
  })

const finding = z
  .looseObject({
    id: text.regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
    level: z.enum(['error', 'warning', 'note']),
    requirements: z.array(text),
    title: text,
    era: era.optional(),
    subject: text.optional(),
    evidence: text,
    repair: text,
    more: z.int().min(0).optional(),
  })
  .meta({ id: 'finding', description: 'One thing that is wrong or worth knowing. Ids never change their meaning.' })

const target = z.looseObject({
  kind: z.enum(['url', 'socket', 'command']),
  text,
  name: text.optional(),
})

/** A report, as it is saved and read again. */
export const reportSchema = z
  .looseObject({
    format: z.literal('atenea-probe-report'),
    version,
    probe: z.looseObject({ name: text, version: text }),
    target,
    started: z.iso.datetime(),
    durationMs: ms,
    outcome: z.enum(['fine', 'auth-required', 'unreachable', 'tool-failed']),
    verdict: z.looseObject({
      era: z.enum(['dual', 'modern', 'legacy', 'none']),
      summary: text,
      cause: text.optional(),
      repair: text.optional(),
    }),
    steps: z.array(step),
    modern: eraReport,
    legacy: eraReport,
    findings: z.array(finding),
    auth: z
      .looseObject({
        status: z.int(),
        scheme: text.optional(),
        parameters: z.record(text, text),
        resourceMetadata: text.optional(),
        authorization: z
          .looseObject({
            documents: z.array(
              z.looseObject({
                document: z.enum(['resource', 'issuer']),
                url: text,
                status: z.int().optional(),
                outcome: z.enum(['used', 'absent', 'defective']),
              }),
            ),
            resource: text.optional(),
            issuers: z.array(text),
            scopes: z.array(text).optional(),
            registration: z.array(text),
            flows: z.array(text),
          })
          .optional(),
        signedIn: z.boolean().optional(),
      })
      .optional(),
    call: z
      .looseObject({
        name: text,
        era,
        ok: z.boolean(),
        durationMs: ms,
        answer: json.optional(),
        detail: text.optional(),
      })
      .optional(),
    stderr: text.optional(),
  })
  .meta({ id: 'report', description: 'What atenea-probe found out about one server.' })

const reportListSchema = z
  .looseObject({
    format: z.literal('atenea-probe-reports'),
    version,
    reports: z.array(reportSchema),
    notProbed: z.array(z.looseObject({ name: text, reason: z.enum(['disabled', 'configuration']), detail: text })),
  })
  .meta({ id: 'reportList', description: 'Reports of the servers of a configuration.' })

/** What `--format json` writes: one report, or a list of them where a configuration was probed. */
export const resultSchema = z.union([reportSchema, reportListSchema])
