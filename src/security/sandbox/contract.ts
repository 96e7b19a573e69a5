// The interface of the sandbox: the policy that is fixed when a sandbox is created, the request for one command, and the
// result. Only types; the implementation is in the files beside this one.

import type { Readable, Writable } from 'node:stream';
import type { SandboxLimits } from './limits.ts';

/**
 * How strong the isolation is.
 * `kernel`: own namespaces, no network, read-only system, no privileges, system call filter, limits (bubblewrap).
 * `limits`: resource limits and an allow-list for programs and environment; files and network stay reachable.
 * `none`: only allow-lists, output limits and timeouts.
 */
export type SandboxLevel = 'kernel' | 'limits' | 'none';

/** A program that may be run, and which of its options a request may use. */
export interface ProgramRule {
  /** The name that a request uses. */
  readonly name: string;
  /** Absolute path; by default the name is looked up in the system directories. */
  readonly path?: string;
  /**
   * Arguments that start with a dash: `allow` (default), `deny`, or the list of allowed options. Listed single letters
   * may be joined (`-l` and `-a` allow `-la`), a listed `--name` allows `--name=value`. This excludes options such as
   * `find -exec` or `tar --to-command`; the isolation itself is the kernel level.
   */
  readonly options?: 'allow' | 'deny' | readonly string[];
  /** Arguments that always come first, before those of the request. */
  readonly fixedArgs?: readonly string[];
}

/** Absolute paths. */
export interface HiddenPaths {
  /** Shown as empty folders. */
  readonly folders: readonly string[];
  /** Cannot be read. */
  readonly files: readonly string[];
}

/** Everything that is decided before the first request and that no request can change. */
export interface SandboxPolicy {
  /** The required level; if it does not work on this machine, `createSandbox` throws. Default `kernel`. */
  readonly level?: SandboxLevel;
  /** Programs that may be run; all others are denied. */
  readonly programs: readonly (string | ProgramRule)[];
  /** Directories visible read-only, at the same path inside. */
  readonly readOnly?: readonly string[];
  /** Directories visible and writable, at the same path inside. */
  readonly writable?: readonly string[];
  /**
   * Paths that stay hidden inside visible directories; called at every start. A directory of the policy that is in a
   * hidden folder is rejected. Only the kernel level can hide paths.
   */
  readonly hidden?: () => HiddenPaths;
  /** `none` (default): only a private loopback interface. `host`: the network of this machine. */
  readonly network?: 'none' | 'host';
  /** Let the program create Unix sockets. Off by default, because a socket file in a bound directory leads out. */
  readonly unixSockets?: boolean;
  /** Variables set for every run, and the names that a request may add. Nothing is inherited. */
  readonly environment?: { readonly set?: Readonly<Record<string, string>>; readonly allow?: readonly string[] };
  /**
   * The user of the program on the host, if this process is root: a private user number (default) or a given one. Never
   * root. An ordinary user keeps its own number, because it cannot switch to another.
   */
  readonly runAs?: { readonly uid: number; readonly gid: number };
  /**
   * Account for the whole tree in a control group: if this process can create one (`auto`, default), always or fail
   * (`require`), or never (`off`). Off saves some milliseconds per start; the watchdog then measures instead.
   */
  readonly controlGroup?: 'auto' | 'require' | 'off';
  /** Changes to `defaultLimits`. */
  readonly limits?: Partial<SandboxLimits>;
}

/** How to start a program. */
export interface SpawnRequest {
  /** A name or absolute path from the policy's list; never looked up in a search path of the request. */
  readonly program: string;
  /** Arguments after the `fixedArgs` of the program. Options that its rule does not allow are denied. Default: none. */
  readonly args?: readonly string[];
  /** Absolute, inside a bound directory or the private `/tmp`. Default: the first writable directory, else `/tmp`. */
  readonly cwd?: string;
  /** Additional variables; only names that the policy allows. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the whole tree when aborted. */
  readonly signal?: AbortSignal;
}

/** One command that runs to its end. */
export interface RunRequest extends SpawnRequest {
  /** Input of the program; by default standard input is empty. */
  readonly stdin?: string | Uint8Array;
  /** Wall-clock limit; never above the policy's `timeoutMs`. */
  readonly timeoutMs?: number;
  /** Limit for each of stdout and stderr; never above the policy's `maxOutputBytes`. */
  readonly maxOutputBytes?: number;
}

/** Why we ended a process tree, when it did not end by itself. */
export type StopReason =
  | 'cancelled'
  | 'closed'
  | 'timeout'
  | 'output'
  | 'memory'
  | 'processes'
  | 'disk'
  /** Monitoring that the policy requires could not be set up; the program did not start. */
  | 'unwatched';

/** How a process tree ended. */
export interface ExitReport {
  /** Exit status; 128 + n after signal n, as in shells. */
  readonly exitCode: number;
  /** The signal that ended the program, if one did. */
  readonly signal: NodeJS.Signals | null;
  /** Set if we ended it: the limit or request that caused it. */
  readonly stopped: StopReason | null;
  /** From the start of the program to the end of its tree. */
  readonly durationMs: number;
}

/** The result of `run`. */
export interface RunResult extends ExitReport {
  /** At most `maxOutputBytes`. */
  readonly stdout: Buffer;
  /** At most `maxOutputBytes`. */
  readonly stderr: Buffer;
  /** Output exceeded the limit: this is its start, and the program was ended. */
  readonly truncated: boolean;
  /** It was ended because of its time limit. */
  readonly timedOut: boolean;
}

/** A long-lived program with the same isolation: a worker or a plugin. */
export interface SandboxProcess {
  /** Its standard input. */
  readonly stdin: Writable;
  /** Its standard output. Read it: otherwise a program that writes a lot has to wait. */
  readonly stdout: Readable;
  /** The last bytes of standard error; it is always drained, so a worker that prints a lot never blocks. */
  stderrTail(): Buffer;
  /** Settles once the whole tree has ended; it never rejects. */
  readonly exited: Promise<ExitReport>;
  /** Ends the whole tree immediately and waits until it has ended. */
  kill(): Promise<ExitReport>;
}

/** Runs programs. Create one per policy and reuse it. */
export interface Sandbox {
  /** The level in effect. */
  readonly level: SandboxLevel;
  /** What is in effect, for the log: user number, cgroup in use, and so on. */
  readonly describe: string;
  /** Runs a command to its end. A limit that is exceeded is in the result; a denied program or option throws a `SandboxError`. */
  run(request: RunRequest): Promise<RunResult>;
  /** Starts a program that keeps running, such as a worker. Throws a `SandboxError` if it is denied or cannot start. */
  spawn(request: SpawnRequest): Promise<SandboxProcess>;
  /** Ends every running tree and rejects new ones. */
  close(): Promise<void>;
}

/** One line of `mooring doctor`. */
export interface ProbeReport {
  /** What was tried. */
  readonly layer: string;
  /** Whether it works on this machine. */
  readonly holds: boolean;
  /** What was found. */
  readonly detail: string;
  /** What to do if it does not work; empty if it does. */
  readonly remedy: string;
}
