// Ours with a console beside it. BENCH_LINK: the file for its link. BENCH_CONSOLE=unwatched: the minute after the start, in
// which messages are recorded without a page, is over at once.
import { writeFileSync } from 'node:fs';
import { createConsole } from '../../dist/console.js';
import { serveStdio } from '../../dist/index.js';
import { server } from './mooring.mjs';

const { setTimeout: original } = globalThis;
if (process.env.BENCH_CONSOLE === 'unwatched') {
  globalThis.setTimeout = /** @type {typeof setTimeout} */ (
    /** @type {unknown} */ (
      (/** @type {() => void} */ run, /** @type {number} */ ms) => original(run, ms === 60_000 ? 1 : ms)
    )
  );
}
const page = createConsole(server);
globalThis.setTimeout = original;
const { link } = await page.listen();
if (process.env.BENCH_LINK) writeFileSync(process.env.BENCH_LINK, link);
await serveStdio(server);
