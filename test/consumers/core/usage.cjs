const { createCore } = require('@atenea/core')
const { toValue } = require('@atenea/mcpcompat')
const { createCallerContext } = require('@atenea/mcpcompat/transport')

async function main() {
  const core = createCore({
    info: { name: 'plain', version: '1.0.0' },
    tools: [{ name: 'echo', handler: ({ text }) => text }],
  })
  const call = { method: 'tools/call', params: { name: 'echo', arguments: { text: 'hello' } } }
  const outcome = await core.call(call, createCallerContext())
  const { text } = toValue(outcome.value).content[0]
  if (text !== 'hello') throw new Error(text)
  console.log('ok')
}

main()
