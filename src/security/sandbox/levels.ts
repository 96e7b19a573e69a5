// The three levels, each as one function from a command to what is started. A level that this machine does not support
// throws here; there is no automatic fallback to a weaker one.

import { readFileSync } from 'node:fs';
import {
  descriptors,
  encodeArguments,
  findHelper,
  isolationArguments,
  missingOptions,
  runArguments,
  supervisorScript,
  waitScript,
} from './bubblewrap.ts';
import type { HiddenPaths, SandboxLevel } from './contract.ts';
import { highestCovered, inheritableDescriptors } from './descriptors.ts';
import type { Directories } from './directories.ts';
import { sandboxErrors } from './errors.ts';
import { hiddenArguments } from './hidden.ts';
import type { SandboxIdentity } from './identity.ts';
import { limitCountsOnlyTree } from './identity.ts';
import type { LaunchPlan } from './launch.ts';
import type { SandboxLimits } from './limits.ts';
import { inheritedHardLimits, prlimitArguments } from './limits.ts';
import { filterBytes } from './seccomp.ts';

/** A command that the policy allows. */
export interface AdmittedCommand {
  readonly path: string;
  readonly args: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly cwd: string;
  /** Wall-clock limit inside the sandbox, in case this process has ended; `undefined` for a worker. */
  readonly innerClockMs: number | undefined;
}

/** What is started for a command, without its standard input and monitoring. */
export type Planner = (command: AdmittedCommand) => Omit<LaunchPlan, 'stdin' | 'onStart'>;

/** What a level depends on. */
export interface LevelOptions {
  readonly identity: SandboxIdentity;
  readonly directories: Directories;
  readonly limits: SandboxLimits;
  readonly network: boolean;
  readonly unixSockets: boolean;
  readonly hidden?: (() => HiddenPaths) | undefined;
}

/** The planner of a level; throws an error that says what is missing and what to do. */
export function planLevel(level: SandboxLevel, options: LevelOptions): Planner {
  switch (level) {
    case 'kernel':
      return planKernel(options);
    case 'limits':
      return planLimits(options);
    case 'none': {
      const covered = inheritable(level);
      return ({ path, args, environment, cwd }) => ({
        ...{ file: path, args, cwd },
        ...{ environment: Object.fromEntries(environment), identity: options.identity, covered },
      });
    }
  }
}

function planKernel(options: LevelOptions): Planner {
  const { identity, directories, network, unixSockets, hidden } = options;
  const [bwrap, timeout] = [helper('kernel', 'bwrap', 'bubblewrap'), helper('kernel', 'timeout', 'coreutils')];
  const shell = helper('kernel', 'sh', 'dash');
  const architecture = process.arch;
  if (architecture !== 'x64' && architecture !== 'arm64') {
    const detail = `no system call table for ${architecture}`;
    throw sandboxErrors.levelUnavailable('kernel', detail, 'Use an x86-64 or arm64 machine.');
  }
  const lacking = missingOptions(bwrap);
  if (lacking.length > 0) {
    const detail = `${bwrap} does not support ${lacking.join(', ')}`;
    throw sandboxErrors.levelUnavailable('kernel', detail, 'Install bubblewrap 0.8 or later.');
  }
  const isolation = isolationArguments(options);
  const filter = filterBytes({ architecture, network, unixSockets });
  const limited = limitCommand('kernel', options, limitCountsOnlyTree(identity, { ownNamespace: true }));
  const covered = inheritable('kernel').filter(
    (descriptor) => !Object.values<number>(descriptors).includes(descriptor),
  );
  // Bubblewrap closes a descriptor that it reads as a list of options, here an empty one; there is no other way.
  const closing = covered.flatMap((descriptor) => ['--args', String(descriptor)]);
  return ({ path, args, environment, cwd, innerClockMs }) => {
    const clock = innerClockMs === undefined ? '0' : String(innerClockMs / 1000);
    const covers = hidden === undefined ? [] : hiddenArguments(hidden(), directories, identity);
    const inner = [shell, '-c', waitScript, 'gate', timeout, '--signal=KILL', clock, ...limited, path, ...args];
    return {
      file: shell,
      args: [
        '-c',
        supervisorScript,
        'keeper',
        bwrap,
        ...closing,
        '--args',
        String(descriptors.arguments),
        '--',
        ...inner,
      ],
      environment: {},
      cwd: '/',
      identity,
      covered,
      isolation: { args: encodeArguments([...isolation, ...covers, ...runArguments(environment, cwd)]), filter },
    };
  };
}

function planLimits(options: LevelOptions): Planner {
  const { identity } = options;
  const [file, ...limited] = limitCommand('limits', options, limitCountsOnlyTree(identity, { ownNamespace: false }));
  const covered = inheritable('limits');
  return ({ path, args, environment, cwd }) => ({
    ...{ file: file!, args: [...limited, path, ...args] },
    ...{ environment: Object.fromEntries(environment), cwd, identity, covered },
  });
}

/** Descriptors that children would inherit. Only Linux lists them; elsewhere Node closes them itself. */
function inheritable(level: SandboxLevel): number[] {
  if (process.platform !== 'linux') return [];
  const found = inheritableDescriptors();
  const beyond = found.find((descriptor) => descriptor > highestCovered);
  if (beyond === undefined) return found;
  const detail = `descriptor ${beyond} was left open by the program that started this process`;
  throw sandboxErrors.levelUnavailable(level, detail, 'Start it with no open descriptors except the standard three.');
}

/** `prlimit` with its options; the program follows. */
function limitCommand(level: SandboxLevel, { limits }: LevelOptions, countProcesses: boolean): string[] {
  const prlimit = helper(level, 'prlimit', 'util-linux');
  const inherited = inheritedHardLimits(readFileSync('/proc/self/limits', 'utf8'));
  return [prlimit, ...prlimitArguments(limits, { countProcesses, inherited }), '--'];
}

function helper(level: SandboxLevel, name: string, debianPackage: string): string {
  const path = process.platform === 'linux' ? findHelper(name) : undefined;
  if (path !== undefined) return path;
  const detail =
    process.platform === 'linux'
      ? `${name} is not installed, or users other than root can change it`
      : `${process.platform} has no ${name}`;
  throw sandboxErrors.levelUnavailable(level, detail, `Install it (Debian: apt-get install ${debianPackage}).`);
}
