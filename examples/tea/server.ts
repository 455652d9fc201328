/** Serves tea to the client that started it, whichever era that speaks. */
import { ask, createCore, defineTool, elicitForm } from '@atenea/core'
import { createRevisionPolicy } from '@atenea/mcpcompat'
import { serveConnection } from '@atenea/mcpcompat/transport'
import { openStdio } from '@atenea/transport-stdio'
import { z } from 'zod'

const orderTea = defineTool({
  name: 'order_tea',
  title: 'Order tea',
  description: 'Orders one cup of tea. Asks the user which.',
  handler(_args, context) {
    const form = elicitForm({ message: 'Which tea?', schema: z.object({ tea: z.enum(['green', 'black']) }) })
    const answer = context.input.get('tea', form)
    if (answer === undefined) return ask({ tea: form })
    return answer.action === 'accept' ? `One cup of ${answer.content.tea} tea.` : 'Nothing, then.'
  },
})

const core = createCore({ info: { name: 'tea', version: '1.0.0' }, tools: [orderTea] })
await serveConnection(openStdio(), core, { policy: createRevisionPolicy() })
