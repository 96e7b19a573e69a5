// Runs a script of clients/ in a process of its own and reads the one line of JSON it prints, or has it run in slices.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { launch, stop, within } from './process.mjs';

/** @typedef {{ client: string, transport: 'stdio' | 'http', era: import('../contestants.mjs').Era, [more: string]: unknown }} Job */

/** @param {string} script  in clients/ @param {Job} job @param {import('node:child_process').StdioOptions} stdio */
const start = (script, job, stdio) =>
  launch(fileURLToPath(new URL(`../clients/${script}`, import.meta.url)), {
    stdio,
    env: { BENCH_JOB: JSON.stringify(job) },
    nodeArgs: ['--no-warnings', '--expose-gc'],
  });

/** @param {string} script  in clients/ @param {Job} job @param {number} patienceMs */
export async function runClient(script, job, patienceMs) {
  const child = start(script, job, ['ignore', 'pipe', 'inherit']);
  try {
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    await within(new Promise((gone) => child.once('close', gone)), patienceMs, `${job.client} did not finish`);
    if (said === '') throw new Error(`${job.client} over ${job.transport} printed nothing`);
    return JSON.parse(said);
  } finally {
    await stop(child);
  }
}

/** A client that is warm and waits for slices of load: for measuring it in turn with others. */
export class ClientLoad {
  #child;

  /** @param {Job} job */
  constructor(job) {
    this.#child = start('load.mjs', job, ['ignore', 'ignore', 'inherit', 'ipc']);
  }

  /** @param {Job} job @param {number} patienceMs */
  static async open(job, patienceMs) {
    const client = new ClientLoad(job);
    await within(once(client.#child, 'message'), patienceMs, `${job.client} is not ready`);
    return client;
  }

  /** With `perSec`, calls so many times a second. @param {number} ms @param {number} patienceMs @param {number} [perSec] @returns {Promise<{ cpuUs: number, perSec: number }>} */
  async load(ms, patienceMs, perSec) {
    const answer = once(this.#child, 'message');
    this.#child.send({ ms, perSec });
    const [measured] = await within(answer, ms + patienceMs, 'no end of the calls of a client');
    return measured;
  }

  close() {
    return stop(this.#child);
  }
}
