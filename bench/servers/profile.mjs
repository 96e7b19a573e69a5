// `mooring serve PROFILE`, without configuration and on a data folder of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const data = mkdtempSync(join(tmpdir(), 'mooring-bench-'));
process.once('exit', () => rmSync(data, { recursive: true, force: true }));
process.env['XDG_CONFIG_HOME'] = data;
const profile = /** @type {string} */ (process.env['BENCH_PROFILE']);
process.argv = [...process.argv.slice(0, 1), 'mooring', 'serve', profile, '--data', data];
await import('../../dist/cli.js');
