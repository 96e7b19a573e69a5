// Descriptors that this process was started with and that every child would inherit. Node closes most of them for its
// children, but stops at the first gap above 15; a launcher that leaves one open at 251 exposes it to all children.

import { readdirSync, readFileSync } from 'node:fs';

/** A higher descriptor cannot reasonably be closed for children; the start then fails instead of leaking it. */
export const highestCovered = 4_096;

const O_CLOEXEC = 0o2000000;

/** Open descriptors of this process, except the standard three, that a child would inherit. */
export function inheritableDescriptors(directory = '/proc/self'): number[] {
  return readdirSync(`${directory}/fd`)
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInheritable(`${directory}/fdinfo/${descriptor}`))
    .sort((a, b) => a - b);
}

function isInheritable(path: string): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(path, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false; // Closed since the listing; the listing's own descriptor is one of these.
  }
}
