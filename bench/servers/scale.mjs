// `mooring serve everything --http` with the tools of the bench. BENCH_ARGS has further arguments; with BENCH_REDIS, a Redis of its
// own is started first and is the store.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { listening } from './control.mjs';
import { startRedis } from './redis.mjs';

const folder = mkdtempSync(join(tmpdir(), 'bench-scale-'));
const config = join(folder, 'mooring.json');
const source = fileURLToPath(new URL('scale-plugin', import.meta.url));
writeFileSync(config, JSON.stringify({ profile: 'everything', plugins: [{ source }] }), { mode: 0o600 });

/** @type {import('node:child_process').ChildProcess[]} */
const children = [];
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
const end = () => process.exit();
process.once('disconnect', end);

/** @type {Record<string, string>} */
const store = {};
if (process.env.BENCH_REDIS === 'true') {
  const redis = await startRedis(folder);
  process.once('exit', redis.stop);
  Object.assign(store, {
    MOORING_REDIS_URL: redis.url,
    MOORING_KEY: randomBytes(32).toString('base64'),
  });
}
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const args = (process.env.BENCH_ARGS ?? '').split(' ').filter((each) => each !== '');
const program = spawn(process.execPath, [cli, 'serve', '--http', '--port', '0', ...args], {
  env: { ...process.env, ...store, MOORING_CONFIG: config, MOORING_DATA: join(folder, 'data'), NODE_OPTIONS: '' },
  stdio: ['ignore', 'ignore', 'pipe'],
});
children.push(program);
program.once('exit', end);
createInterface({ input: program.stderr }).on('line', (line) => {
  const port = /listening on http:\/\/[^:]+:(\d+)/.exec(line)?.[1];
  if (port !== undefined) listening(Number(port));
});
