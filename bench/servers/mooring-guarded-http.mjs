// Ours with guards: BENCH_GUARD names them, `rate` and `audit`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttp } from '../../dist/index.js';
import { openAuditLog, rateLimit } from '../../dist/security.js';
import { listening } from './control.mjs';
import { server } from './mooring.mjs';

const guards = (process.env.BENCH_GUARD ?? '').split(',');
if (guards.includes('audit')) {
  const directory = mkdtempSync(join(tmpdir(), 'bench-audit-'));
  (await openAuditLog({ directory, maxFiles: 1 })).install(server);
  // The bench ends its servers without a word, so the folder goes when its parent does.
  process.once('disconnect', () => {
    rmSync(directory, { recursive: true, force: true });
    process.exit();
  });
}
if (guards.includes('rate')) {
  const plenty = { requests: 1_000_000, windowMs: 1_000 };
  server.around(
    rateLimit([
      { per: 'principal', ...plenty },
      { per: 'global', ...plenty },
    ]),
  );
}
const { port } = await serveHttp(server, { host: '127.0.0.1', port: 0, path: '/mcp' });
listening(port);
