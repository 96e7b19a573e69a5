// Prints the error that ended a command: a sentence on stderr, or with --json an object on stdout. Exit codes are here too.

import { nearest } from '../app/text/nearest.ts';
import { UsageError } from '../app/usage-error.ts';
import { UnknownOption } from './parse-args.ts';

/** The exit codes of all commands, as docs/cli.md lists them. */
export const exitCodes = { success: 0, failure: 1, usage: 2, interrupted: 130 } as const;

/** Prints an error and returns the exit code. */
export function reportError(error: unknown, json: boolean): number {
  const message = messageOf(error);
  const usage = error instanceof UsageError;
  const exitCode = usage ? exitCodes.usage : exitCodes.failure;
  if (json) {
    const tried = find(error, ({ tried }) => (Array.isArray(tried) && tried.length > 0 ? tried : undefined));
    const report = {
      code: usage ? 'usage' : codeOf(error),
      message,
      exitCode,
      ...(tried === undefined ? {} : { tried }),
    };
    process.stdout.write(`${JSON.stringify({ error: report }, null, 2)}\n`);
  } else process.stderr.write(`mooring: ${message}\n`);
  if (!usage && process.env['MCP_LOG_LEVEL']?.toLowerCase() === 'debug') {
    process.stderr.write(`${(error as Error).stack}\n`);
  }
  return exitCode;
}

function messageOf(error: unknown): string {
  if (error instanceof UnknownOption) {
    const { option, known, help } = error;
    const meant = nearest(option, known);
    if (meant !== undefined) return `Unknown option --${option}; did you mean --${meant}?\n${help}`;
    // Of call and prompt.
    if (known.includes('arg')) {
      return `Unknown option --${option}. To pass an argument of that name, write --arg ${option}=value\n${help}`;
    }
    if (nearest(option, ['version']) !== undefined)
      return `Unknown option --${option}; did you mean "mooring --version"?\n${help}`;
  }
  if (!(error instanceof Error)) return String(error);
  // Errors of the sandbox and the clipboard say separately what to do.
  const { remedy } = error as { readonly remedy?: unknown };
  return typeof remedy === 'string' && remedy !== '' ? `${error.message}\n${remedy}` : error.message;
}

/** The code of a client error, an OAuth error or a system error, also if it is the cause of another error. */
function codeOf(error: unknown): string {
  return find(error, ({ code }) => (typeof code === 'string' ? code : undefined)) ?? 'failed';
}

type ErrorFields = { readonly code?: unknown; readonly tried?: unknown; readonly cause?: unknown };

/** Stops a circle of causes. */
const maxCauses = 8;

function find<T>(error: unknown, pick: (fields: ErrorFields) => T | undefined): T | undefined {
  let at = error;
  for (let i = 0; i < maxCauses && typeof at === 'object' && at !== null; i++) {
    const found = pick(at as ErrorFields);
    if (found !== undefined) return found;
    at = (at as ErrorFields).cause;
  }
  return undefined;
}
