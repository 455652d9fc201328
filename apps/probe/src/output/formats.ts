/** What a run can be written as. */
export const outputFormats = ['text', 'json', 'junit', 'sarif'] as const
export type OutputFormat = (typeof outputFormats)[number]
