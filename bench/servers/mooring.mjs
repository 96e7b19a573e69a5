// Ours, as `npm run build` made it. BENCH_SCHEMA=zod swaps the plain JSON Schemas for zod, which only that variant
// loads; BENCH_HANDLER=async wraps each handler in a promise, as most real ones are.
import { createServer } from '../../dist/index.js';
import { tools } from './tools.mjs';

const z = process.env.BENCH_SCHEMA === 'zod' ? (await import('zod')).z : undefined;
const isAsync = process.env.BENCH_HANDLER === 'async';

/** @param {Partial<Parameters<typeof createServer>[0]>} [options] */
export function makeServer(options) {
  const server = createServer({ name: 'bench', version: '1.0.0', ...options });
  for (const { name, description, inputSchema, shape, run } of tools) {
    const input = z ? z.object(shape(z)) : inputSchema;
    server.tool(name, { description, input, run: isAsync ? async (/** @type {unknown} */ args) => run(args) : run });
  }
  return server;
}

export const server = makeServer();
