#!/usr/bin/env node
// Plain enough for any Node, since this is where one that is too old must be told so.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`atenea-proxy needs Node 20.19 or newer, and this is Node ${process.versions.node}.`)
  process.exitCode = 2
} else {
  void import('../dist/main.js')
}
