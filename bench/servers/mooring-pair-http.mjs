// Two servers of ours in one process, a plain one and one with what BENCH_WITH names: two processes differ by more than
// a guard or a console costs.
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttp } from '../../dist/index.js';
import { listening } from './control.mjs';
import { makeServer } from './mooring.mjs';

const folder = mkdtempSync(join(tmpdir(), 'bench-pair-'));
/** @type {(() => void)[]} */
const closers = [() => rmSync(folder, { recursive: true, force: true })];
process.once('exit', () => {
  for (const close of closers) close();
});
process.once('disconnect', () => process.exit());

const policy = `version: 1
rules:
  - { effect: allow, tools: ["*"] }
limits:
  rate:
    - { per: principal, requests: 1000000, window: 1s }
    - { per: global, requests: 1000000, window: 1s }
`;

/** The link of the console, where there is one. @type {string | undefined} */
let link;

/** @type {Record<string, (server: ReturnType<typeof makeServer>) => unknown>} */
const additions = {
  async audit(server) {
    const { openAuditLog } = await import('../../dist/security.js');
    const directory = join(folder, 'audit');
    mkdirSync(directory);
    await server.use(await openAuditLog({ directory, maxFiles: 1 }));
  },
  /** The rate limits come from a policy file, as they do with `mooring serve --policy`. */
  async policy(server) {
    const { enforcePolicy, loadPolicy } = await import('../../dist/security.js');
    const file = join(folder, 'policy.yaml');
    writeFileSync(file, policy, { mode: 0o600 });
    await server.use(enforcePolicy(await loadPolicy(file)));
  },
  async console(server) {
    const { createConsole } = await import('../../dist/console.js');
    ({ link } = await createConsole(server).listen());
  },
  /** The minute after the start, in which messages are recorded without a page, is over at once. */
  async 'unwatched-console'(server) {
    const { setTimeout: original } = globalThis;
    const shorter = (/** @type {() => void} */ run, /** @type {number} */ ms) => original(run, ms === 60_000 ? 1 : ms);
    globalThis.setTimeout = /** @type {typeof setTimeout} */ (/** @type {unknown} */ (shorter));
    await additions.console(server);
    globalThis.setTimeout = original;
  },
};

/** @param {string[]} names */
async function serve(names) {
  const { redis, server } = names.includes('redis') ? await withRedis() : { redis: {}, server: makeServer() };
  for (const name of names) await additions[name]?.(server);
  return (await serveHttp(server, { host: '127.0.0.1', port: 0, path: '/mcp', ...redis })).port;
}

async function withRedis() {
  const { openRedis } = await import('../../dist/stores/redis.js');
  const { startRedis } = await import('./redis.mjs');
  const { url, stop } = await startRedis(folder);
  closers.push(stop);
  const key = randomBytes(32).toString('base64');
  const { store, bus, tasks, sharedEventLog, monitor } = await openRedis({ url, name: 'bench', keys: [key] });
  const server = makeServer({ key, store, bus, tasks: { store: tasks } });
  return { server, redis: { sharedEventLog, monitors: [monitor] } };
}

const names = (process.env.BENCH_WITH ?? '').split('+');
/** @type {number[]} */
const ports = [];
for (const which of process.env.BENCH_PLAIN_FIRST === 'true' ? [0, 1] : [1, 0]) {
  ports[which] = await serve(which === 0 ? [] : names);
}
listening(ports, link);
