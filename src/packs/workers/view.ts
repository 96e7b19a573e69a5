// A worker as callers see it. Its output is untrusted text: escape sequences and hidden characters are removed.

import { cleanText } from '../../common/hygiene.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { Worker } from './worker.ts';

/** Enough of standard error to see why it failed. */
const maxErrorChars = 2000;

/** Without fields that only the server needs. */
export function viewOf(worker: Worker): JsonObject {
  const { owner: _owner, serverPid: _pid, ...shown } = worker.record;
  const errors = cleanText(worker.errors.slice(-maxErrorChars)).trim();
  return { ...shown, output: worker.output.end, ...(errors === '' ? {} : { errors }) };
}

/** Its output from a position on. */
export function readOutput(worker: Worker, from: number | undefined, maxChars: number) {
  const { text, next, dropped } = worker.output.read(from, maxChars);
  return { output: cleanText(text), next, dropped };
}
