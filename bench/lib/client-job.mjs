// Runs a script of clients/ in a process of its own and reads the one line of JSON it prints.
import { fileURLToPath } from 'node:url';
import { launch, stop, within } from './process.mjs';

/**
 * @param {string} script  in clients/
 * @param {{ client: string, transport: 'stdio' | 'http', era: import('../contestants.mjs').Era, [more: string]: unknown }} job
 * @param {number} patienceMs
 */
export async function runClient(script, job, patienceMs) {
  const child = launch(fileURLToPath(new URL(`../clients/${script}`, import.meta.url)), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { BENCH_JOB: JSON.stringify(job) },
    nodeArgs: ['--no-warnings', '--expose-gc'],
  });
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
