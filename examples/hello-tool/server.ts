import { createCore, defineTool } from '@atenea/core'
import { createRevisionPolicy } from '@atenea/mcpcompat'
import { serveConnection } from '@atenea/mcpcompat/transport'
import { openStdio } from '@atenea/transport-stdio'
import { z } from 'zod'

const hello = defineTool({
  name: 'hello',
  description: 'Greets somebody by name.',
  inputSchema: z.object({ name: z.string().describe('Whom to greet') }),
  annotations: { readOnlyHint: true },
  handler: ({ name }) => `Hello, ${name}!`,
})

const core = createCore({ info: { name: 'hello', version: '1.0.0' }, tools: [hello] })

// Clients of both eras, message by message, until stdin ends.
await serveConnection(openStdio(), core, { policy: createRevisionPolicy() })
