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
  readonly profiles?: readonly string[];
}

/** Allows callers to use things, or hides things from them. */
export interface AccessRule extends Audience {
  readonly name?: string;
  readonly effect: 'allow' | 'deny';
  readonly tools?: readonly string[];
  readonly resources?: readonly string[];
  readonly prompts?: readonly string[];
  readonly reason?: string;
}

/** A constraint on an argument of a tool. */
export interface ArgumentRule extends Audience {
  readonly name?: string;
  readonly tools: readonly string[];
  /** The name of an argument, or a JSON Pointer; `*` is every string in the arguments, at any depth. */
  readonly argument: string;
  /** JSON Schema without `pattern`, because a hostile text can make a pattern slow. */
  readonly schema?: JsonObject;
  /** Globs: a string must match one of `allow`, and none of `deny`. */
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
  readonly exact?: boolean;
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

/** A policy as it is written in a file. */
export interface Policy {
  readonly version: 1;
  /** Applies where no rule matches. Default: `deny` if there are rules, `allow` if there are none. */
  readonly default?: 'allow' | 'deny';
  /** The first matching rule decides. */
  readonly rules?: readonly AccessRule[];
  /** Arguments must satisfy every matching rule. */
  readonly arguments?: readonly ArgumentRule[];
  /** Scopes that operations need; a call without them is rejected with a request for a better token. */
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
