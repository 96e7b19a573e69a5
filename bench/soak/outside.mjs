// The server as the system sees it: a server whose event loop is blocked reports nothing of itself.
import { readFileSync } from 'node:fs';
import { withheldByCore, withheldSince } from './withheld.mjs';

/** The hook in the server reports once a second; a busy machine may delay that a little. */
const silentMs = 2_000;

export class Outside {
  /** In the form of the hook's own lines. */
  lines = [];
  #pid;
  /** When the server last reported, and how long it had waited for a core by then. */
  #heard = { atMs: 0, waitedMs: 0, withheld: withheldByCore() };

  constructor(pid) {
    this.#pid = pid;
  }

  /** Notes memory, and a silence of the server since `heardAtMs` as a blocked event loop. Returns the memory in MB. */
  look(heardAtMs) {
    const seen = this.#read();
    if (seen === undefined) return 0;
    const { waitedMs, rssMb, peakRssMb } = seen;
    if (heardAtMs !== this.#heard.atMs) this.#heard = { atMs: heardAtMs, waitedMs, withheld: withheldByCore() };
    const delayMs = Date.now() - heardAtMs;
    const isSilent = delayMs > silentMs;
    const blockedMs = isSilent
      ? Math.max(0, delayMs - (waitedMs - this.#heard.waitedMs) - withheldSince(this.#heard.withheld))
      : 0;
    this.lines.push({ atMs: Date.now(), delayMs: isSilent ? delayMs : 0, blockedMs, rssMb, peakRssMb });
    return rssMb;
  }

  /** Undefined where there is no /proc, or no process any more. */
  #read() {
    try {
      const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8');
      const mb = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
      const waitedMs = Number(readFileSync(`/proc/${this.#pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
      return { waitedMs, rssMb: mb('VmRSS'), peakRssMb: mb('VmHWM') };
    } catch {
      return undefined;
    }
  }
}
