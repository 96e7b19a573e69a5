// Ours without guards and with those that are asked for, side by side: two processes differ by more than a guard costs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttp } from '../../dist/index.js';
import { openAuditLog, rateLimit } from '../../dist/security.js';
import { listening } from './control.mjs';
import { makeServer } from './mooring.mjs';

const directory = mkdtempSync(join(tmpdir(), 'bench-audit-'));
// The bench ends its servers without a word, so the folder goes when its parent does.
process.once('disconnect', () => {
  rmSync(directory, { recursive: true, force: true });
  process.exit();
});

/** @param {string} guards  `rate` and `audit`, in the id of the contestant */
async function serve(guards) {
  const server = makeServer();
  if (guards.includes('audit')) await server.use(await openAuditLog({ directory, maxFiles: 1 }));
  if (guards.includes('rate')) {
    const plenty = { requests: 1_000_000, windowMs: 1_000 };
    server.around(
      rateLimit([
        { per: 'principal', ...plenty },
        { per: 'global', ...plenty },
      ]),
    );
  }
  return (await serveHttp(server, { host: '127.0.0.1', port: 0, path: '/mcp' })).port;
}

const guards = process.env.BENCH_GUARDS ?? '';
if (process.env.BENCH_GUARDED_FIRST === 'true') {
  const guarded = await serve(guards);
  listening(await serve(''), guarded);
} else listening(await serve(''), await serve(guards));
