// What a caller of the sandbox sees: the policy that is fixed when a sandbox is made, the request for one
// command, and what comes back. Types alone; how a promise is kept lives in the files beside this one.

import type { Readable, Writable } from 'node:stream';
import type { SandboxLimits } from './limits.ts';

/**
 * How strong the walls are.
 * `kernel`: own namespaces, no network, read-only system, no privileges, system call filter, limits (bubblewrap).
 * `limits`: resource limits and an allow-listed program and environment; files and network stay reachable.
 * `none`: allow-lists, output caps and time-outs alone.
 */
export type SandboxLevel = 'kernel' | 'limits' | 'none';

/** A program that may be run, and which of its options a request may use. */
export interface ProgramRule {
  /** The name a request uses. */
  readonly name: string;
  /** Absolute path; by default the name is looked up in the system directories. */
  readonly path?: string;
  /**
   * Arguments that begin with a dash: `allow` (default), `refuse`, or the list of options that may pass.
   * Listed single letters may be joined (`-l` and `-a` admit `-la`), a listed `--name` admits `--name=value`.
   * This closes doors such as `find -exec` or `tar --to-command`; the wall itself is the kernel level.
   */
  readonly options?: 'allow' | 'refuse' | readonly string[];
  /** Arguments that always come first, before those of the request. */
  readonly fixedArgs?: readonly string[];
}

/** Absolute paths. */
export interface HiddenPaths {
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

/** Everything that is decided before the first request and that no request can change. */
export interface SandboxPolicy {
  /** The level that must hold; when it does not hold here, `createSandbox` throws. Default `kernel`. */
  readonly level?: SandboxLevel;
  /** Programs that may be run. Nothing else is. */
  readonly programs: readonly (string | ProgramRule)[];
  /** Directories visible read-only, at the same path inside. */
  readonly readOnly?: readonly string[];
  /** Directories visible and writable, at the same path inside. */
  readonly writable?: readonly string[];
  /**
   * What stays invisible inside even where a visible directory holds it, asked for at every start. A directory of the
   * policy that lies in a hidden folder is rejected. Only the kernel level can hide anything.
   */
  readonly hidden?: () => HiddenPaths;
  /** `none` (default): no interface but a private loopback. `host`: the network of this machine. */
  readonly network?: 'none' | 'host';
  /** Let the program create Unix sockets. Off, because a socket file in a bound directory leads out. */
  readonly unixSockets?: boolean;
  /** Variables set for every run, and the names that a request may add. Nothing is inherited. */
  readonly environment?: { readonly set?: Readonly<Record<string, string>>; readonly allow?: readonly string[] };
  /**
   * Who the program is, seen from the host, when this process is root: a private user number (default) or a given one.
   * Never root. An ordinary user keeps its own number, since it cannot take another.
   */
  readonly runAs?: { readonly uid: number; readonly gid: number };
  /**
   * Account for the whole tree in a control group: where this process may make one (`auto`, default), always or not at
   * all (`require`), or never (`off`). Off saves some milliseconds at a start; the watchdog then counts in its place.
   */
  readonly controlGroup?: 'auto' | 'require' | 'off';
  /** Departures from `defaultLimits`. */
  readonly limits?: Partial<SandboxLimits>;
}

/** How to start a program. */
export interface SpawnRequest {
  /** A name or absolute path from the policy's list; never looked up by a request's own search path. */
  readonly program: string;
  readonly args?: readonly string[];
  /** Absolute, inside a bound directory or the private `/tmp`. Default: the first writable directory, else `/tmp`. */
  readonly cwd?: string;
  /** Additional variables; only names that the policy allows. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the whole tree when aborted. */
  readonly signal?: AbortSignal;
}

/** One command with a beginning and an end. */
export interface RunRequest extends SpawnRequest {
  /** What the program reads; without it standard input is empty. */
  readonly stdin?: string | Uint8Array;
  /** Wall-clock limit; never above the policy's `timeoutMs`. */
  readonly timeoutMs?: number;
  /** Cap for each of stdout and stderr; never above the policy's `maxOutputBytes`. */
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
  /** A watch that the policy requires could not be set up; the program did not begin. */
  | 'unwatched';

/** How a process tree ended. */
export interface ExitReport {
  /** Exit status; 128 + n after signal n, as a shell says it. */
  readonly exitCode: number;
  /** The signal that ended the program, if one did. */
  readonly signal: NodeJS.Signals | null;
  /** Set when we ended it: the limit or the wish behind it. */
  readonly stopped: StopReason | null;
  readonly durationMs: number;
}

/** The result of `run`. */
export interface RunResult extends ExitReport {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Output went beyond the cap: what is here is its beginning, and the program was ended. */
  readonly truncated: boolean;
  readonly timedOut: boolean;
}

/** A long-lived program behind the same walls: a worker or a plugin. */
export interface SandboxProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The last bytes of standard error; it is always drained, so a talkative worker never blocks. */
  stderrTail(): Buffer;
  /** Settles once the whole tree is gone; it never rejects. */
  readonly exited: Promise<ExitReport>;
  /** Ends the whole tree at once and waits until it is gone. */
  kill(): Promise<ExitReport>;
}

/** A place where programs run. Make one per policy and keep it. */
export interface Sandbox {
  readonly level: SandboxLevel;
  /** What holds, for the log: user number, cgroup in use, and so on. */
  readonly describe: string;
  run(request: RunRequest): Promise<RunResult>;
  spawn(request: SpawnRequest): Promise<SandboxProcess>;
  /** Ends every running tree and refuses new ones. */
  close(): Promise<void>;
}

/** One line of `mooring doctor`. */
export interface ProbeReport {
  readonly layer: string;
  readonly holds: boolean;
  readonly detail: string;
  /** What to do when it does not hold; empty when it does. */
  readonly remedy: string;
}
