// A worker as callers see it. What it printed is text of a program: escape sequences and hidden characters are left out.

import { cleanText } from '../../security/hygiene.ts';
import type { Worker } from './worker.ts';

/** The end of standard error is for finding out why it failed, not for reading its story. */
const maxErrorChars = 2000;

/** Without what only the server needs to know. */
export function viewOf(worker: Worker): Readonly<Record<string, unknown>> {
  const { owner: _owner, serverPid: _pid, ...shown } = worker.record;
  const errors = cleanText(worker.errors.slice(-maxErrorChars)).trim();
  return { ...shown, output: worker.output.end, ...(errors === '' ? {} : { errors }) };
}

/** What it printed, from a place on. */
export function readOutput(worker: Worker, from: number | undefined, maxChars: number) {
  const { text, next, dropped } = worker.output.read(from, maxChars);
  return { output: cleanText(text), next, dropped };
}
