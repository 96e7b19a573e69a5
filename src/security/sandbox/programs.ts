// Which programs may be run, and with which arguments. Names are resolved to absolute paths once, when the sandbox is
// created; a request can only choose from that table, so no search path and no shell is involved.

import { realpathSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, normalize } from 'node:path';
import { isInside } from '../files/is-inside.ts';
import type { ProgramRule } from './contract.ts';
import { sandboxErrors } from './errors.ts';

/** Where names are looked up. Only root can write there. */
const programDirectories = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'] as const;

/** Directories of the system, bound read-only at the kernel level. */
export const systemDirectories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'] as const;

/** A program of the policy with the path to run. */
export interface ResolvedProgram extends ProgramRule {
  readonly path: string;
}

/** The programs of a policy by name and by path. */
export type ProgramTable = ReadonlyMap<string, ResolvedProgram>;

/** Finds every program of the policy. Throws if one is missing, so that a typing error shows at the start. */
export function resolvePrograms(
  rules: readonly (string | ProgramRule)[],
  directories: { readonly readOnly: readonly string[]; readonly writable: readonly string[] },
): ProgramTable {
  const table = new Map<string, ResolvedProgram>();
  for (const entry of rules) {
    const rule = typeof entry === 'string' ? ruleOf(entry) : entry;
    const candidates = rule.path === undefined ? programDirectories.map((dir) => join(dir, rule.name)) : [rule.path];
    const path = candidates.find((candidate) => isRunnable(candidate, directories));
    if (path === undefined) throw sandboxErrors.programNotFound(rule.path ?? rule.name);
    const program = { ...rule, path };
    table.set(rule.name, program);
    table.set(path, program);
  }
  return table;
}

function ruleOf(entry: string): ProgramRule {
  return isAbsolute(entry) ? { name: basename(entry), path: normalize(entry) } : { name: entry };
}

/** A regular file with an execute bit that no program inside the sandbox can change. */
function isRunnable(
  path: string,
  directories: { readonly readOnly: readonly string[]; readonly writable: readonly string[] },
): boolean {
  if (!isAbsolute(path) || path.includes('\0')) return false;
  try {
    const real = realpathSync(path);
    const stats = statSync(real);
    const trusted = [...systemDirectories, ...directories.readOnly].some((root) => isInside(real, root));
    const changeable = directories.writable.some((root) => isInside(real, root) || isInside(path, root));
    return stats.isFile() && (stats.mode & 0o111) !== 0 && trusted && !changeable;
  } catch {
    return false; // Missing or not accessible: the caller tries the next directory, and then reports it.
  }
}

/** The program of a request with its complete arguments. Throws an error that says what was denied. */
export function admitCommand(
  table: ProgramTable,
  program: string,
  args: readonly string[],
  maxArgumentBytes: number,
): { readonly path: string; readonly args: readonly string[] } {
  const rule = table.get(program);
  if (rule === undefined) throw sandboxErrors.programNotAllowed(program);
  let bytes = 0;
  for (const argument of args) {
    if (typeof argument !== 'string') throw sandboxErrors.argumentNotAllowed('not a string', String(argument));
    if (argument.includes('\0')) throw sandboxErrors.argumentNotAllowed('it contains a NUL character', argument);
    bytes += Buffer.byteLength(argument) + 1;
    if (bytes > maxArgumentBytes)
      throw sandboxErrors.argumentNotAllowed(
        `all arguments together have more than ${maxArgumentBytes} bytes`,
        argument,
      );
  }
  checkOptions(rule, args);
  return { path: rule.path, args: [...(rule.fixedArgs ?? []), ...args] };
}

function checkOptions({ options = 'allow', name }: ProgramRule, args: readonly string[]): void {
  if (options === 'allow') return;
  const listed = options === 'deny' ? [] : options;
  for (const argument of args) {
    if (argument === '--') return; // By convention everything after it is an operand.
    if (!argument.startsWith('-') || argument === '-') continue;
    if (!isListed(argument, listed))
      throw sandboxErrors.argumentNotAllowed(`${name} may not be used with this option`, argument);
  }
}

function isListed(argument: string, listed: readonly string[]): boolean {
  if (listed.includes(argument)) return true;
  if (argument.startsWith('--')) {
    const equals = argument.indexOf('=');
    return equals > 0 && listed.includes(argument.slice(0, equals));
  }
  return [...argument.slice(1)].every((letter) => listed.includes(`-${letter}`));
}
