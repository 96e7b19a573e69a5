// All errors of the sandbox, as one table. A program that fails is a result, not one of these.

import { UserError } from '../../common/user-error.ts';

/** What went wrong; stable, for code to switch on. */
export type SandboxErrorCode =
  | 'level-unavailable'
  | 'program-not-found'
  | 'program-not-allowed'
  | 'argument-not-allowed'
  | 'variable-not-allowed'
  | 'directory-not-allowed'
  | 'start-failed'
  | 'busy'
  | 'closed';

/** Nothing was run: the policy, the request or this machine does not allow it. */
export class SandboxError extends UserError {
  override readonly name = 'SandboxError';
  /** Why it was denied or could not start. */
  readonly code: SandboxErrorCode;
  /** What the operator can do about it. */
  readonly remedy: string;

  constructor(code: SandboxErrorCode, message: string, options: { remedy?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.remedy = options.remedy ?? '';
  }
}

/** Untrusted text in printable form: no control characters, bounded. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

export const sandboxErrors = {
  levelUnavailable: (level: string, detail: string, remedy: string) =>
    new SandboxError('level-unavailable', `Sandbox level "${level}" does not work on this machine: ${detail}`, {
      remedy,
    }),
  programNotFound: (name: string) =>
    new SandboxError(
      'program-not-found',
      `Program ${quoted(name)} is not in a directory of the system, or in a read-only one`,
      {
        remedy: 'Install it, or add the directory that it is in to "readOnly".',
      },
    ),
  programNotAllowed: (name: string) =>
    new SandboxError('program-not-allowed', `Command not allowed: ${quoted(name)}`, {
      remedy: 'Add the program to the policy.',
    }),
  argumentNotAllowed: (why: string, argument: string) =>
    new SandboxError('argument-not-allowed', `Argument not allowed (${why}): ${quoted(argument)}`),
  variableNotAllowed: (name: string) =>
    new SandboxError('variable-not-allowed', `Environment variable not allowed: ${quoted(name)}`, {
      remedy: 'Add the name to the policy, unless it changes how programs are loaded.',
    }),
  directoryNotAllowed: (why: string, path: string, remedy = '') =>
    new SandboxError('directory-not-allowed', `Directory not allowed (${why}): ${quoted(path)}`, { remedy }),
  startFailed: (detail: string, cause?: unknown) =>
    new SandboxError('start-failed', `The sandbox did not start: ${detail}`, { cause }),
  busy: (limit: number) => new SandboxError('busy', `${limit} programs are already running; try again later`),
  closed: () => new SandboxError('closed', 'The sandbox is closed'),
};
