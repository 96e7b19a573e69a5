// Loaded into the server with --import. Measures from inside how long the event loop was blocked and how much memory the
// process has, and appends one line a second to the file named by MOORING_SOAK_FILE.
import { appendFileSync, readFileSync } from 'node:fs';
import { withheldByCore, withheldSince } from './withheld.mjs';

const tickMs = 20;
const file = process.env.MOORING_SOAK_FILE;

/** How long this thread was ready to run but had no core, in ms; that is no fault of the server. 0 where unknown. */
function waitedMs() {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0; // Not Linux: then the whole delay counts.
  }
}

let last = { at: performance.now(), waited: waitedMs(), withheld: withheldByCore() };
let worst = { blockedMs: 0, delayMs: 0 };

function tick() {
  const now = { at: performance.now(), waited: waitedMs(), withheld: withheldByCore() };
  const delayMs = Math.max(0, now.at - last.at - tickMs);
  worst.delayMs = Math.max(worst.delayMs, delayMs);
  worst.blockedMs = Math.max(worst.blockedMs, delayMs - (now.waited - last.waited) - withheldSince(last.withheld));
  last = now;
}

function report() {
  const rssMb = process.memoryUsage.rss() / 1024 / 1024;
  const peakRssMb = process.resourceUsage().maxRSS / 1024;
  const { user, system } = process.cpuUsage();
  const line = { atMs: Date.now(), ...worst, rssMb, peakRssMb, cpuMs: (user + system) / 1000 };
  worst = { blockedMs: 0, delayMs: 0 };
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

if (file !== undefined) {
  setInterval(tick, tickMs).unref();
  setInterval(report, 1_000).unref();
}
