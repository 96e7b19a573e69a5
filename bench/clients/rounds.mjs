// One client that connects, calls once and closes, again and again, told by BENCH_JOB how often. Prints what a round
// costs, and what all of them left behind in this process.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { childCount, sleep } from '../lib/process.mjs';
import { connector } from './clients.mjs';
import { briefServer } from './target.mjs';

const job = JSON.parse(process.env.BENCH_JOB ?? process.argv[2]);
const connect = await connector(job.client);
const target = await briefServer(job.transport);

async function round() {
  const connected = await connect(target, job.era);
  const { content } = await connected.call();
  assert.equal(content[0].text, '3');
  await connected.close();
  return connected.revision;
}

async function look() {
  for (let n = 0; n < 5; n++) {
    globalThis.gc?.();
    await sleep(200);
  }
  return {
    heapKb: process.memoryUsage().heapUsed / 1024,
    descriptors: readdirSync('/proc/self/fd').length,
    children: childCount(process.pid),
  };
}

let revision = '';
for (let n = 0; n < job.rounds / 4; n++) revision = await round();
const before = await look();
const cpu = process.cpuUsage();
for (let n = 0; n < job.rounds; n++) await round();
const { user, system } = process.cpuUsage(cpu);
const after = await look();
console.log(
  JSON.stringify({
    revision,
    cpuMs: (user + system) / 1000 / job.rounds,
    heapKb: after.heapKb - before.heapKb,
    descriptors: after.descriptors - before.descriptors,
    children: after.children - before.children,
  }),
);
process.exit();
