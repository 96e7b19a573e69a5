#!/usr/bin/env node
// The program `mooring`.

// Before anything else is loaded. Node.js 20 has no such cache, and an import costs time there, too.
if ('enableCompileCache' in process.getBuiltinModule('node:module')) {
  (await import('../app/compile-cache.ts')).useCompileCache();
}
const { run } = await import('./run.ts');
run(process.argv.slice(2));
