import type { Principal } from '@atenea/mcpcompat'

/** Stands in an exchange until it is known who sent it. */
export const nobody: Principal = Object.freeze({ id: 'nobody', authenticated: false })
