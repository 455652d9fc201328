// Loads zod with it, so that programs import this only once they have a file to read.
export { policyShape } from './policy/policy-shape.ts'
export { frontConfigShape, frontLimitsShape, limit } from './config/front-schema.ts'
