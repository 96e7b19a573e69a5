// The types of a policy file. The same as JSON Schema: schema.ts.

import type { JsonObject } from '../../protocol/model.ts';
import type { ScopeRule } from '../auth/scopes.ts';
import type { LimitScope } from '../limits/index.ts';
import type { NetworkPolicy } from '../network/policy.ts';
import type { ProgramRule, SandboxLevel } from '../sandbox/contract.ts';

/** `500ms`, `30s`, `5m`, `2h`. */
export type DurationText = string;
/** `800`, `64KiB`, `1MiB`, `2GiB`. */
export type SizeText = string | number;

/** The callers that something applies to. All given conditions must match; patterns are globs. */
export interface Audience {
  /** Names of principals. Callers without a name match only `*` and `**`. */
  readonly principals?: readonly string[];
  /** Issuers of their tokens; two issuers may use one name for different people. */
  readonly issuers?: readonly string[];
  /** Scopes that the caller must have, all of them. */
  readonly scopes?: readonly string[];
  /** Globs of the profiles in which it applies. Default: all. */
  readonly profiles?: readonly string[];
}

/** Allows callers to use things, or hides things from them. */
export interface AccessRule extends Audience {
  /** Shown in explanations, after the number of the rule. */
  readonly name?: string;
  /** For the caller, what is denied does not exist: it is not listed, and requests for it fail like those for unknown names. */
  readonly effect: 'allow' | 'deny';
  /** Globs of names. A rule without `tools`, `resources` and `prompts` applies to everything. */
  readonly tools?: readonly string[];
  /** Globs of URIs. */
  readonly resources?: readonly string[];
  /** Globs of names. */
  readonly prompts?: readonly string[];
  /** Shown by `explainCall` and `mooring policy check`, not to callers. */
  readonly reason?: string;
}

/** A constraint on an argument of a tool. */
export interface ArgumentRule extends Audience {
  /** Shown in explanations and the audit log, after the number of the rule. */
  readonly name?: string;
  /** Globs of the tools that it applies to. */
  readonly tools: readonly string[];
  /** The name of an argument, or a JSON Pointer; `*` is every string in the arguments, at any depth. */
  readonly argument: string;
  /** JSON Schema without `pattern`, because a hostile text can make a pattern slow. */
  readonly schema?: JsonObject;
  /** Globs: a string must match one of `allow`, and none of `deny`. */
  readonly allow?: readonly string[];
  /** Globs, none of which a string may match. */
  readonly deny?: readonly string[];
  /** Compare `allow` and `deny` without case. Default false. */
  readonly ignoreCase?: boolean;
  /** Characters of a string; a longer one violates the rule. */
  readonly maxLength?: number;
  /** Told to the caller instead of what is wrong with the value. */
  readonly reason?: string;
}

/** How many requests are allowed in which time; see `RateRule`. Further ones are rejected with the time to wait. */
export interface RateEntry {
  /** What is counted separately. With several, each combination is. */
  readonly per: LimitScope | readonly LimitScope[];
  /** Globs of tools. Default: every request that does work. */
  readonly tools?: readonly string[];
  /** Methods such as `resources/read`. Default, without `tools`: every request that does work. */
  readonly methods?: readonly string[];
  /** How many requests are allowed in one window. */
  readonly requests: number;
  /** The length of the window. */
  readonly window: DurationText;
  /** How many may arrive at the same time. Default: `requests`. */
  readonly burst?: number;
  /** Processes with a shared store use it for every request. Default false: they exchange what was used ten times a second. */
  readonly exact?: boolean;
}

/** How many requests may run at the same time; see `ConcurrencyRule`. */
export interface ConcurrencyEntry {
  /** What is counted separately. With several, each combination is. */
  readonly per: LimitScope | readonly LimitScope[];
  /** Globs of tools. Default: every request that does work. */
  readonly tools?: readonly string[];
  /** Methods such as `resources/read`. Default, without `tools`: every request that does work. */
  readonly methods?: readonly string[];
  /** How many may run at a time. */
  readonly max: number;
  /** How many more may wait; further ones are rejected. Default 0. */
  readonly queue?: number;
}

/** How long a call may take and how large its result may be. Of several that match, the smallest value applies. */
export interface CallEntry {
  /** Globs of tools. Default: every request that does work. */
  readonly tools?: readonly string[];
  /** Methods such as `resources/read`. Default, without `tools`: every request that does work. */
  readonly methods?: readonly string[];
  /** A call that takes longer is aborted. */
  readonly timeout?: DurationText;
  /** Bytes of the result on the wire; a larger one is replaced by an error. */
  readonly maxResult?: SizeText;
}

/** A policy as it is written in a file. */
export interface Policy {
  /** The version of the format. */
  readonly version: 1;
  /** Applies where no rule matches. Default: `deny` if there are rules, `allow` if there are none. */
  readonly default?: 'allow' | 'deny';
  /** The first matching rule decides. */
  readonly rules?: readonly AccessRule[];
  /** Arguments must satisfy every matching rule. */
  readonly arguments?: readonly ArgumentRule[];
  /** Scopes that operations need; a call without them is rejected with a request for a better token. */
  readonly scopes?: readonly ScopeRule[];
  /** Limits of requests. `initialize`, `ping`, `server/discover`, notifications and cancellations are never limited. */
  readonly limits?: {
    /** A request must pass every entry that covers it. */
    readonly rate?: readonly RateEntry[];
    /** A request must pass every entry that covers it. */
    readonly concurrency?: readonly ConcurrencyEntry[];
    /** Time and result size of single calls. */
    readonly calls?: readonly CallEntry[];
    /** New work is rejected above this delay of the event loop (default 250 ms) or number of requests in flight (10,000). */
    readonly shedding?: { readonly maxLag?: DurationText; readonly maxInFlight?: number };
  };
  /** Directories and files that tools may read, and those they may also write. */
  readonly files?: {
    /** Folders and files that tools may read, besides those of `write`. */
    readonly read?: readonly string[];
    /** Folders and files that tools may read and write. */
    readonly write?: readonly string[];
    /** The largest file that tools may read or write. Default: the limits of `openRoots`. */
    readonly maxFile?: SizeText;
  };
  /** Programs that tools may run, in a sandbox. Default: none. */
  readonly commands?: {
    /** Names, or rules for their options; all other programs are denied. */
    readonly programs: readonly (string | ProgramRule)[];
    /** How strong the isolation must be; the server does not start if it does not work here. Default `kernel`. */
    readonly level?: SandboxLevel;
    /** Folders that programs can read. */
    readonly readOnly?: readonly string[];
    /** Folders that programs can read and write. */
    readonly writable?: readonly string[];
    /** Default `none`. `host`: the network of this machine. */
    readonly network?: 'none' | 'host';
    /** Programs are ended after this time. Default 30 s. */
    readonly timeout?: DurationText;
    /** Limit for each of stdout and stderr; a program that writes more is ended. Default 1 MiB. */
    readonly maxOutput?: SizeText;
  };
  /** Which addresses tools may reach. Default: public ones. */
  readonly network?: NetworkPolicy;
}

/** A policy that cannot be used, and why. */
export class PolicyError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'PolicyError';
  }
}
