// One client under load, in a process of its own, told by BENCH_JOB what to do. Prints CPU per call of this process
// alone; the server is another process, and the same for all clients. With a channel to the bench it runs a slice whenever it
// gets one.
import assert from 'node:assert/strict';
import { setInterval } from 'node:timers/promises';
import { connector } from './clients.mjs';
import { fastServer } from './target.mjs';

const job = JSON.parse(process.env.BENCH_JOB ?? process.argv[2]);
const connect = await connector(job.client);
const connected = await connect(await fastServer(job.transport), job.era);
await connected.list();
const first = await connected.call();
assert.equal(first.content[0].text, '3');

/** Calls, `inFlight` at a time, for so long and at least so often. @param {number} forMs @param {number} atLeast */
async function load(forMs, atLeast) {
  const until = performance.now() + forMs;
  let calls = 0;
  const lane = async () => {
    while (performance.now() < until || calls < atLeast) {
      await connected.call();
      calls++;
    }
  };
  return measured(async () => {
    await Promise.all(Array.from({ length: job.inFlight }, lane));
    return calls;
  });
}

/** Calls so many times a second, whether or not earlier calls have ended. @param {number} forMs @param {number} perSec */
function paced(forMs, perSec) {
  return measured(async () => {
    const begun = performance.now();
    /** @type {Promise<unknown>[]} */
    const open = [];
    for await (const _ of setInterval(1)) {
      const elapsedMs = performance.now() - begun;
      if (elapsedMs >= forMs) break;
      // By the clock: timers come late.
      while (open.length < (elapsedMs / 1000) * perSec) open.push(connected.call());
    }
    await Promise.all(open);
    return open.length;
  });
}

/** @param {() => Promise<number>} run  returns the number of calls */
async function measured(run) {
  const [begun, before] = [performance.now(), process.cpuUsage()];
  const calls = await run();
  const { user, system } = process.cpuUsage(before);
  return { cpuUs: (user + system) / calls, perSec: (calls / (performance.now() - begun)) * 1000 };
}

// The compiler settles after so many calls, not after so much time, and over HTTP there are few in a second.
await load(job.warmMs, 5_000);
if (process.send) {
  process.on('message', async ({ ms, perSec }) => {
    process.send?.(await (perSec === undefined ? load(ms, 500) : paced(ms, perSec)));
  });
  process.once('disconnect', () => process.exit());
  process.send({ revision: connected.revision });
} else {
  const taken = [];
  for (let n = 0; n < job.slices; n++) taken.push(await load(job.ms / job.slices, 500));
  console.log(JSON.stringify({ revision: connected.revision, taken }));
  await connected.close();
  process.exit();
}
