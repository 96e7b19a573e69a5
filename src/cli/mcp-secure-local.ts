#!/usr/bin/env node
// The program `mcp-secure-local`: the secure-local profile under the name clients know it by.

// Before anything else is loaded. Node.js 20 has no such cache, and an import costs time there, too.
if ('enableCompileCache' in process.getBuiltinModule('node:module')) {
  (await import('../app/compile-cache.ts')).useCompileCache();
}
const { runProfile } = await import('./run.ts');
runProfile('mcp-secure-local', 'secure-local', process.argv.slice(2));
