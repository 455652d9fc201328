import { createRevisionPolicy } from '@atenea/mcpcompat'
import { serveConnection } from '@atenea/mcpcompat/transport'
import { openStdio } from '@atenea/transport-stdio'
import { core } from './our-core.ts'

await serveConnection(openStdio(), core, { policy: createRevisionPolicy() })
