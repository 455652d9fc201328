/** Put in by the bundler. */
declare const bundledVersion: string | undefined

/** The version of this package. */
export const version: string = typeof bundledVersion === 'undefined' ? '0.0.0-source' : bundledVersion
