export type { BundleAppOptions } from './bundle-app.ts'
export { bundleApp } from './bundle-app.ts'
