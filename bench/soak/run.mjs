// Soak: one hostile caller that does everything at once, ten honest ones, the built program with its default limits.
//
//   npm run soak -- --minutes 10 [--json] [--docs] [--attack NAME …] [--no-attack] [--honest N] [--pace MS]
//
// --docs writes the figures into docs/security.md as well. --attack picks some of the attacks, --pace is the time between
// two requests of an honest caller.
//
// Exits with 1 when a bar is missed, with 2 when the soak itself could not run.
import { fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, setPriority, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { attacks } from './attacks.mjs';
import { Outside } from './outside.mjs';
import { bars, summarize, toText, writeDocs } from './report.mjs';
import { sleep } from './wire.mjs';
import { withheldByCore } from './withheld.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const program = resolve(here, '../../dist/cli.js');
/** Honest callers alone, so that everything is loaded and compiled before the measured time begins. */
const warmUpMs = 5_000;
/** Memory far beyond the bar ends the run: the result is clear, and the machine has other work to do. */
const stopAtRssMb = 3 * bars.rssMb;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seconds: { type: 'string' },
    json: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
    attack: { type: 'string', multiple: true },
    'no-attack': { type: 'boolean', default: false },
    honest: { type: 'string', default: '10' },
    pace: { type: 'string', default: '100' },
  },
});
const durationMs = 1000 * (values.seconds === undefined ? 60 * Number(values.minutes ?? 1) : Number(values.seconds));
const honestCount = Number(values.honest);
const names = values['no-attack'] ? [] : (values.attack ?? Object.keys(attacks));
const unknown = names.filter((name) => !Object.hasOwn(attacks, name));
if (!(durationMs > 0) || !(honestCount >= 3) || unknown.length > 0) {
  console.error(
    unknown.length > 0
      ? `No attack is called ${unknown.join(', ')}. There are: ${Object.keys(attacks).join(', ')}`
      : '--minutes and --seconds take a number above 0, --honest at least 3',
  );
  process.exit(2);
}
if (!existsSync(program)) {
  console.error('dist/cli.js is missing. Run "npm run build" first.');
  process.exit(2);
}

const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

const children = new Set();
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mooring-soak-')));
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

/** Above whatever else runs on this machine, where the system allows it; the hostile caller is below. */
function prefer(child) {
  try {
    setPriority(child.pid, -5);
  } catch {
    // Takes a privilege. Without it the figures include what other programs take.
  }
  return child;
}

function own(child) {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** The files that are served, and a policy that every URI is checked against. */
function prepare() {
  const root = join(folder, 'root');
  mkdirSync(root);
  writeFileSync(join(root, 'small.txt'), 'a small file\n');
  writeFileSync(join(root, 'large.bin'), randomBytes(4 * 1024 * 1024));
  const policy = join(folder, 'policy.json');
  const rules = [
    { effect: 'deny', resources: ['secret://**', 'file:///**/.env'] },
    { effect: 'allow', tools: ['*'], prompts: ['*'], resources: ['**'] },
  ];
  writeFileSync(policy, JSON.stringify({ version: 1, rules }), { mode: 0o600 });
  const config = join(folder, 'mooring.json');
  writeFileSync(config, JSON.stringify({ packs: { reference: { demoTools: true } } }), { mode: 0o600 });
  return { root, policy, config };
}

async function startServer({ root, policy, config }, tokens) {
  const hook = pathToFileURL(join(here, 'server-hook.mjs')).href;
  const words = ['serve', 'local', '--http', '--port', '0', '--root', root, '--policy', policy, '--config', config];
  const child = own(
    spawn(process.execPath, ['--import', hook, program, ...words, '--data', join(folder, 'data')], {
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        MOORING_TOKEN: tokens.join(','),
        MOORING_SOAK_FILE: join(folder, 'server.jsonl'),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  );
  prefer(child);
  let log = '';
  const port = await new Promise((found, failed) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log = `${log}${line}\n`.slice(-20_000);
      const address = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      if (address !== undefined) found(Number(address));
    });
    child.once('exit', (code, signal) => failed(new Error(`the server exited with ${code ?? signal}:\n${log}`)));
  });
  return { child, port, log: () => log };
}

/** Lines of the hook so far, from a moment on. */
function serverFigures(sinceMs) {
  const file = join(folder, 'server.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'));
  return lines.map((line) => JSON.parse(line)).filter(({ atMs }) => atMs >= sinceMs);
}

function startClient(file, options) {
  const child = own(
    fork(join(here, file), [JSON.stringify(options)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  );
  const stop = () =>
    new Promise((done) => {
      child.once('message', done);
      child.once('exit', () => done(undefined));
      if (child.connected) child.send('stop');
      else done(undefined);
    });
  return { child, stop };
}

const tokens = Array.from({ length: honestCount + 1 }, () => randomBytes(32).toString('base64url'));
const [hostileToken, ...honestTokens] = tokens;
const files = prepare();
const server = await startServer(files, tokens);
const gone = new Promise((done) => server.child.once('exit', (code, signal) => done(`exited with ${code ?? signal}`)));
const honest = startClient('honest.mjs', {
  port: server.port,
  tokens: honestTokens,
  root: files.root,
  paceMs: Number(values.pace),
});
prefer(honest.child);
await sleep(warmUpMs);
const sinceMs = Date.now();
const withheldBefore = sum(withheldByCore());
honest.child.send('measure');
const hostile = startClient('hostile.mjs', { port: server.port, token: hostileToken, root: files.root, names });

let ended;
gone.then((why) => {
  ended = why;
});
const outside = new Outside(server.child.pid);
while (ended === undefined && Date.now() - sinceMs < durationMs) {
  await sleep(Math.min(1_000, sinceMs + durationMs - Date.now()));
  const rssMb = outside.look(serverFigures(sinceMs).at(-1)?.atMs ?? sinceMs);
  if (rssMb > stopAtRssMb) ended = `stopped by the soak with ${Math.round(rssMb)} MB`;
}
const measuredMs = Date.now() - sinceMs;
const honestFigures = await honest.stop();
const hostileFigures = await hostile.stop();
const summary = summarize({
  seconds: Math.round(measuredMs / 1000),
  cores: availableParallelism(),
  honestCount,
  ended,
  honest: honestFigures,
  hostile: hostileFigures ?? {},
  withheldShare: (sum(withheldByCore()) - withheldBefore) / (measuredMs * availableParallelism()),
  server: [...serverFigures(sinceMs), ...outside.lines],
});
if (ended !== undefined) console.error(server.log().slice(-3_000));
console.log(values.json ? JSON.stringify(summary, undefined, 2) : toText(summary));
if (values.docs) writeDocs(summary);
process.exit(summary.ok ? 0 : 1);
