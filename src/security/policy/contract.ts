// What a policy file may say, as types. The same as JSON Schema: schema.ts.

import type { ScopeRule } from '../auth/scopes.ts';
import type { LimitScope } from '../limits/index.ts';
import type { NetworkPolicy } from '../network/policy.ts';
import type { ProgramRule, SandboxLevel } from '../sandbox/contract.ts';

/** `500ms`, `30s`, `5m`, `2h`. */
export type DurationText = string;
/** `800`, `64KiB`, `1MiB`, `2GiB`. */
export type SizeText = string | number;

/** For whom something is said. All that is given must fit; patterns are globs. */
export interface Audience {
  /** Names of principals. Whoever has none fits only `*` and `**`. */
  readonly principals?: readonly string[];
  /** Who vouches for them; two issuers may know different people by one name. */
  readonly issuers?: readonly string[];
  /** Scopes that the caller must all have. */
  readonly scopes?: readonly string[];
  readonly profiles?: readonly string[];
}

/** Lets callers use things, or hides things from them. */
export interface AccessRule extends Audience {
  readonly name?: string;
  readonly effect: 'allow' | 'deny';
  readonly tools?: readonly string[];
  readonly resources?: readonly string[];
  readonly prompts?: readonly string[];
  readonly reason?: string;
}

/** What an argument of a tool must be like. */
export interface ArgumentRule extends Audience {
  readonly name?: string;
  readonly tools: readonly string[];
  /** The name of an argument, or a JSON Pointer; `*` is every text in the arguments, however deep. */
  readonly argument: string;
  /** JSON Schema; without `pattern`, since a pattern can be made slow by the text it looks at. */
  readonly schema?: { readonly [key: string]: unknown };
  /** Globs: a text must fit one of `allow`, and none of `deny`. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly ignoreCase?: boolean;
  readonly maxLength?: number;
  readonly reason?: string;
}

export interface RateEntry {
  readonly per: LimitScope | readonly LimitScope[];
  readonly tools?: readonly string[];
  readonly methods?: readonly string[];
  readonly requests: number;
  readonly window: DurationText;
  readonly burst?: number;
}

export interface ConcurrencyEntry {
  readonly per: LimitScope | readonly LimitScope[];
  readonly tools?: readonly string[];
  readonly methods?: readonly string[];
  readonly max: number;
  readonly queue?: number;
}

export interface CallEntry {
  readonly tools?: readonly string[];
  readonly methods?: readonly string[];
  readonly timeout?: DurationText;
  readonly maxResult?: SizeText;
}

/** A policy as it is written. */
export interface Policy {
  readonly version: 1;
  /** What holds where no rule fits. Default: `deny` when there are rules, `allow` when there are none. */
  readonly default?: 'allow' | 'deny';
  /** The first rule that fits decides. */
  readonly rules?: readonly AccessRule[];
  /** Every rule that fits must be kept. */
  readonly arguments?: readonly ArgumentRule[];
  /** Scopes that operations need; a call without them is asked to come back with a better token. */
  readonly scopes?: readonly ScopeRule[];
  readonly limits?: {
    readonly rate?: readonly RateEntry[];
    readonly concurrency?: readonly ConcurrencyEntry[];
    readonly calls?: readonly CallEntry[];
    readonly shedding?: { readonly maxLag?: DurationText; readonly maxInFlight?: number };
  };
  /** Directories and files that tools may read, and those they may also write. */
  readonly files?: {
    readonly read?: readonly string[];
    readonly write?: readonly string[];
    readonly maxFile?: SizeText;
  };
  readonly commands?: {
    readonly programs: readonly (string | ProgramRule)[];
    readonly level?: SandboxLevel;
    readonly readOnly?: readonly string[];
    readonly writable?: readonly string[];
    readonly network?: 'none' | 'host';
    readonly timeout?: DurationText;
    readonly maxOutput?: SizeText;
  };
  readonly network?: NetworkPolicy;
}

/** A policy that cannot be used, and why. */
export class PolicyError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'PolicyError';
  }
}
