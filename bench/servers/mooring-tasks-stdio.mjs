// Ours with a tool that runs as a task: `wait` until it is cancelled, `quick` ends at once. BENCH_DATA: the data folder in
// which tasks are stored; without it they are in memory.
import { createServer, serveStdio } from '../../dist/index.js';
import { tools } from './tools.mjs';

const folder = process.env.BENCH_DATA;
const store = folder ? (await (await import('../../dist/stores/sqlite.js')).openDataFolder(folder)).tasks : undefined;
// One caller creates tasks faster than they end.
const limits = { maxActivePerCaller: 10_000 };
const server = createServer({ name: 'bench', version: '1.0.0', tasks: { limits, ...(store && { store }) } });
for (const { name, description, inputSchema, run } of tools)
  server.tool(name, { description, input: inputSchema, run });
/** @type {Record<string, (ctx: { signal: AbortSignal }) => unknown>} */
const bodies = {
  wait: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  quick: () => 'done',
};
for (const [name, run] of Object.entries(bodies)) {
  const task = { start: /** @type {const} */ ('immediately'), pollMs: /** @type {const} */ ([1000, 1000]) };
  server.tool(name, { description: 'Runs as a task', task, run: (/** @type {unknown} */ _args, ctx) => run(ctx) });
}
await serveStdio(server);
