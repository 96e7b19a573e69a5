// node bench/profile.mjs <server> [stdio|http] [handshake|stateless] [call]: where the server's CPU time goes under load.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contestants } from './contestants.mjs';
import { HttpClient } from './lib/http-client.mjs';
import { pinSelf } from './lib/process.mjs';
import { StdioClient } from './lib/stdio-client.mjs';
import { calls, listLength } from './lib/wire.mjs';

const [id, transport = 'stdio', era = 'handshake', call = 'calculate'] = /** @type {any[]} */ (process.argv.slice(2));
const contestant = contestants[transport]?.find((one) => one.id === id);
if (!contestant?.eras.includes(era) || !(call in calls)) {
  console.error('node bench/profile.mjs <server> [stdio|http] [handshake|stateless] [calculate|echo|list]');
  for (const [name, all] of Object.entries(contestants))
    console.error(`  ${name}: ${all.map((one) => one.id).join(', ')}`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'bench-profile-'));
const nodeArgs = ['--cpu-prof', '--cpu-prof-interval', '200', '--cpu-prof-dir', folder];
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
pinSelf();
const { perSec } = transport === 'stdio' ? await loadStdio() : await loadHttp();
report(JSON.parse(readFileSync(join(folder, readdirSync(folder)[0]), 'utf8')));

async function loadStdio() {
  const env = { BENCH_TOOLS: call === 'list' ? String(listLength) : '0' };
  const client = await StdioClient.open(contestant, era, { env, nodeArgs });
  const measured = await client.load(call, { inFlight: call === 'calculate' ? 256 : 16, ms: 5000 });
  await client.end();
  return measured;
}

async function loadHttp() {
  const client = await HttpClient.open(contestant, era, nodeArgs);
  const sessions = await client.openSessions(64);
  const measured = await client.load(call, { connections: 64, ms: 5000, sessions });
  await client.end();
  return measured;
}

/** @param {{ nodes: any[], samples: number[], timeDeltas: number[] }} profile */
function report({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  /** @type {Map<string, number>} */
  const byFunction = new Map();
  /** @type {Map<string, number>} */
  const byPlace = new Map();
  let busy = 0;
  samples.forEach((sample, n) => {
    const { functionName, url, lineNumber } = byId.get(sample).callFrame;
    if (functionName === '(idle)') return;
    busy += timeDeltas[n];
    const file = url.split('/').slice(-2).join('/');
    const name = `${functionName || '(anonymous)'}${url ? `  ${file}:${lineNumber + 1}` : ''}`;
    byFunction.set(name, (byFunction.get(name) ?? 0) + timeDeltas[n]);
    const place = placeOf(url, functionName);
    byPlace.set(place, (byPlace.get(place) ?? 0) + timeDeltas[n]);
  });
  console.log(
    `${contestant?.name}, ${transport}, ${era}, ${call}: ${Math.round(perSec).toLocaleString('en-US')} calls/s under the profiler`,
  );
  for (const [title, sums] of [
    ['place', byPlace],
    ['function', byFunction],
  ]) {
    console.log(`\nself time by ${title}`);
    const sorted = [.../** @type {Map<string, number>} */ (sums)].sort((a, b) => b[1] - a[1]).slice(0, 25);
    for (const [name, micros] of sorted) console.log(`${((100 * micros) / busy).toFixed(1).padStart(6)} %  ${name}`);
  }
}

/** The package or folder a frame belongs to. @param {string} url @param {string} functionName */
function placeOf(url, functionName) {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)';
  if (url.startsWith('node:')) return url;
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url);
  return inPackage ? inPackage[1] : url.split('/').slice(-2).join('/');
}
