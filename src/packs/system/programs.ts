// The programs that `execute_command` runs by default: they read and print, and none of them runs another program or
// writes a file. The sandbox isolates them; the list of options excludes side effects.

import type { ProgramRule } from '../../security/sandbox/index.ts';

/** A program, and whether its plain arguments are paths, which the caller must have access to, or other text. */
export interface CommandRule extends ProgramRule {
  readonly operands: 'paths' | 'words';
}

const letters = (text: string): string[] => [...text].map((letter) => `-${letter}`);
const digits = letters('0123456789');

const reads = (name: string, options: readonly string[]): CommandRule => ({ name, options, operands: 'paths' });
const takesNoFiles = (name: string, options: readonly string[]): CommandRule => ({ name, options, operands: 'words' });

/** The documented set; docs/packs/system.md lists it. */
export const defaultPrograms: readonly CommandRule[] = [
  reads('ls', [
    ...letters('aAbBcCdfFghHiklLmnNopqQrRsStTuUvxXZ1'),
    ...[
      '--all',
      '--almost-all',
      '--author',
      '--classify',
      '--color',
      '--directory',
      '--full-time',
      '--group-directories-first',
    ],
    ...[
      '--human-readable',
      '--inode',
      '--long',
      '--recursive',
      '--reverse',
      '--si',
      '--size',
      '--sort',
      '--time',
      '--time-style',
    ],
  ]),
  reads('cat', [...letters('AbeEnstTuv'), '--number', '--number-nonblank', '--show-all', '--show-ends', '--show-tabs']),
  reads('head', [...letters('cnqvz'), ...digits, '--bytes', '--lines', '--quiet', '--verbose']),
  // Without -f: it would only wait until the time limit.
  reads('tail', [...letters('cnqvz'), ...digits, '--bytes', '--lines', '--quiet', '--verbose']),
  reads('wc', [...letters('cmlLw'), '--bytes', '--chars', '--lines', '--max-line-length', '--words']),
  reads('stat', [...letters('fLt'), '--file-system', '--terse', '--dereference']),
  reads('du', [
    ...letters('abchHkmsSx0'),
    ...digits,
    '--all',
    '--apparent-size',
    '--human-readable',
    '--max-depth',
    '--summarize',
    '--total',
  ]),
  reads('df', [
    ...letters('ahHiklmPT'),
    '--all',
    '--human-readable',
    '--inodes',
    '--portability',
    '--print-type',
    '--total',
  ]),
  { name: 'echo', options: 'allow', operands: 'words' },
  takesNoFiles('date', [...letters('uRId'), '--date', '--iso-8601', '--rfc-3339', '--rfc-email', '--utc']),
  takesNoFiles('uname', [
    ...letters('asnrvmpio'),
    '--all',
    '--kernel-name',
    '--kernel-release',
    '--machine',
    '--operating-system',
  ]),
  takesNoFiles('ps', [
    ...letters('AaefFlLjMwxHou'),
    '--forest',
    '--format',
    '--no-headers',
    '--sort',
    '--pid',
    '--ppid',
  ]),
  takesNoFiles('sleep', []),
  takesNoFiles('id', letters('Ggnru')),
  takesNoFiles('whoami', []),
  takesNoFiles('pwd', letters('LP')),
  takesNoFiles('hostname', []),
  takesNoFiles('nproc', ['--all']),
  takesNoFiles('uptime', [...letters('ps'), '--pretty', '--since']),
  takesNoFiles('free', [...letters('bghkmtw'), '--human', '--mebi', '--total', '--wide']),
];

/** The rules for a list of names or absolute paths. Programs of the documented set keep their rules; others have none. */
export function rulesFor(names: readonly string[]): (CommandRule | string)[] {
  return names.map((name) => defaultPrograms.find((rule) => rule.name === name) ?? name);
}
