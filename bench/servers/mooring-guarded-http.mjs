// Two servers of ours in one process, one without guards and one with those that are asked for: two processes differ by
// more than a guard costs. The rate limits come from a policy file, as they do with `mooring serve --policy`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttp } from '../../dist/index.js';
import { enforcePolicy, loadPolicy, openAuditLog } from '../../dist/security.js';
import { listening } from './control.mjs';
import { makeServer } from './mooring.mjs';

const directory = mkdtempSync(join(tmpdir(), 'bench-guards-'));
// The bench ends its servers without a message, so the folder is deleted when the parent disconnects.
process.once('disconnect', () => {
  rmSync(directory, { recursive: true, force: true });
  process.exit();
});

const policy = `version: 1
rules:
  - { effect: allow, tools: ["*"] }
limits:
  rate:
    - { per: principal, requests: 1000000, window: 1s }
    - { per: global, requests: 1000000, window: 1s }
`;

/** @param {string} guards  `rate` and `audit`, in the id of the contestant */
async function serve(guards) {
  const server = makeServer();
  if (guards.includes('audit')) {
    const logs = join(directory, 'audit');
    mkdirSync(logs);
    await server.use(await openAuditLog({ directory: logs, maxFiles: 1 }));
  }
  if (guards.includes('rate')) {
    const file = join(directory, 'policy.yaml');
    writeFileSync(file, policy, { mode: 0o600 });
    await server.use(enforcePolicy(await loadPolicy(file)));
  }
  return (await serveHttp(server, { host: '127.0.0.1', port: 0, path: '/mcp' })).port;
}

const guards = process.env.BENCH_GUARDS ?? '';
if (process.env.BENCH_GUARDED_FIRST === 'true') {
  const guarded = await serve(guards);
  listening(await serve(''), guarded);
} else listening(await serve(''), await serve(guards));
