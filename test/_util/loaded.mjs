// Prints what importing the module named by the argument loads: files of packages, and modules of the runtime.
import { registerHooks } from 'node:module'

const urls = []
registerHooks({
  load(url, context, next) {
    urls.push(url)
    return next(url, context)
  },
})
const before = new Set(process.moduleLoadList)
await import(process.argv[2])
const runtime = process.moduleLoadList.filter((name) => !before.has(name))
console.log(JSON.stringify({ urls, runtime }))
