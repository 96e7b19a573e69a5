// The hostile caller: one token, every attack at once, round after round. Runs at a low priority, so that it takes the time
// that server and honest callers leave; its own slowness is never measured.
import { setPriority } from 'node:os';
import { attacks } from './attacks.mjs';
import { Caller, sleep } from './wire.mjs';

const { port, token, root, names } = JSON.parse(process.argv[2]);
try {
  setPriority(10);
} catch {
  // Some systems do not allow it; the figures of the honest callers' own loop tell whether it mattered.
}

const figures = {};
let stopped = false;

async function repeat(name) {
  const { round, pauseMs } = attacks[name];
  const outcomes = (figures[name] = { rounds: 0 });
  const count = (outcome) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };
  const caller = new Caller(port, token, 32);
  while (!stopped) {
    try {
      await round({ port, token, root, caller, count });
    } catch (error) {
      count(error.name === 'TimeoutError' || error.name === 'AbortError' ? 'timed out' : (error.code ?? error.message));
      await sleep(200);
    }
    outcomes.rounds++;
    if (pauseMs > 0) await sleep(pauseMs);
  }
}

process.on('message', (order) => {
  if (order !== 'stop') return;
  stopped = true;
  process.send(figures, () => process.exit(0));
});
// A broken connection is what it asked for.
process.on('uncaughtException', () => {});
for (const name of names) repeat(name);
