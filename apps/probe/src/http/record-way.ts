import type { Recorder } from '../recorder.ts'
import type { StepName } from '../report.ts'
import type { HttpExchange } from '../wire/http-wire.ts'

const names = [
  ['dns', 'dns'],
  ['tcp', 'tcp'],
  ['tls', 'tls'],
  ['http', 'http'],
  ['firstByte', 'first-byte'],
] as const satisfies readonly (readonly [keyof HttpExchange['marks'], StepName])[]

/** Records how the first exchange went, stage by stage. The stage that failed is the last one. */
export function recordWay(recorder: Recorder, answer: HttpExchange, url: URL): void {
  const marked = names.filter(([mark]) => answer.marks[mark] !== undefined)
  for (const [index, [mark, name]] of marked.entries()) {
    const { from, to = from } = answer.marks[mark] ?? { from: 0 }
    const isLast = index === marked.length - 1
    const failed = isLast && answer.failure !== undefined
    const detail = failed
      ? (answer.failure?.code ?? answer.failure?.message)
      : name === 'http' && answer.http !== undefined
        ? `${answer.http.status}`
        : name === 'dns' || name === 'tcp'
          ? url.host
          : undefined
    recorder.step({ name, from, to, ok: !failed, detail })
  }
}
