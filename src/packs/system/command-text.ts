// The text that a caller gets when a command fails or is denied. It always starts with "Command failed: ".

import { cleanText } from '../../common/hygiene.ts';
import type { RunResult, SandboxError, StopReason } from '../../security/sandbox/index.ts';

/** How much of a failed program's output is returned. */
const maxPrintedChars = 4096;

const stopTexts: Readonly<Record<StopReason, (limitMs: number) => string>> = {
  cancelled: () => 'cancelled',
  closed: () => 'the server is closing',
  timeout: (limitMs) => `timed out after ${limitMs} ms`,
  output: () => 'it printed more than is allowed',
  memory: () => 'it used more memory than is allowed',
  processes: () => 'it started more processes than are allowed',
  disk: () => 'it wrote more than is allowed',
  unwatched: () => 'it could not be monitored',
};

/** Why a finished command counts as failed; undefined if it succeeded. */
export function failureOf(result: RunResult, limitMs: number): string | undefined {
  const { exitCode, stopped, stdout, stderr } = result;
  if (stopped === null && exitCode === 0) return undefined;
  const printed = cleanText(Buffer.concat([stderr, stdout]).toString().trim(), 'strip', maxPrintedChars);
  if (stopped !== null) return failureText(stopTexts[stopped](limitMs), printed);
  if (printed !== '') return `Command failed: ${printed}`;
  return `Command failed: exit code ${exitCode}${result.signal === null ? '' : ` (${result.signal})`}`;
}

const failureText = (reason: string, printed: string): string =>
  `Command failed: ${reason}${printed === '' ? '' : `\n${printed}`}`;

/** Why a command was not run at all. */
export function denialText(error: SandboxError, command: string, allowed: readonly string[]): string {
  if (error.code === 'program-not-allowed') {
    const name = cleanText(command, 'line', 100);
    return `Command failed: permission denied: ${name} is not an allowed command (allowed: ${allowed.join(', ')})`;
  }
  if (error.code === 'argument-not-allowed') return `Command failed: permission denied: ${error.message}`;
  return `Command failed: ${error.message}`;
}
