#!/usr/bin/env node
// Plain enough for any Node, since this is where one that is too old must be told so.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 13)) {
  console.error(`atenea-server needs Node 22.13 or newer, and this is Node ${process.versions.node}.`)
  process.exitCode = 2
} else {
  void import('../dist/main.js')
}
