// Time in which the host of a virtual machine ran something else on its cores ("steal" in /proc/stat). No program in the
// machine could do anything about it, so it is subtracted from what is measured, and reported.
import { readFileSync } from 'node:fs';

/** What /proc/stat counts in. */
const tickMs = 10;

/** Per core, in ms since the start of the machine. Empty where the system does not say. */
export function withheldByCore() {
  try {
    return readFileSync('/proc/stat', 'utf8')
      .split('\n')
      .filter((line) => /^cpu\d/.test(line))
      .map((line) => Number(line.split(/\s+/)[8]) * tickMs);
  } catch {
    return [];
  }
}

/** Since an earlier reading: of the core that lost most, since a thread is on one core at a time. */
export function withheldSince(earlier) {
  const now = withheldByCore();
  return Math.max(0, ...now.map((each, core) => each - (earlier[core] ?? each)));
}
