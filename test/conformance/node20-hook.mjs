// Lets the official conformance package start on Node 20, which lacks the `fs.globSync` it imports (for a command we never run).
// Preloaded with `node --import`; it answers only that package's own `fs` import, and does nothing where globSync exists.
import fs from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const facade = `data:text/javascript,${encodeURIComponent(`
  export * from 'node:fs';
  export { default } from 'node:fs';
  export function globSync() { throw new Error('fs.globSync is not available on this version of Node'); }
`)}`;

/** Resolve hook: hands the conformance package an `fs` that also exports globSync. */
export async function resolve(specifier, context, nextResolve) {
  const wanted = specifier === 'fs' || specifier === 'node:fs';
  if (wanted && context.parentURL?.includes('/@modelcontextprotocol/conformance/')) {
    return { url: facade, shortCircuit: true };
  }
  return nextResolve(specifier, context);
}

// This file is loaded twice: here to register itself, and again as the hook in the loader's own thread.
if (isMainThread && !('globSync' in fs)) register(import.meta.url);
