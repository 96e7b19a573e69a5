// Compiles a policy: checks it against its schema and for contradictions, and converts its parts for the guards.

import { assertKnownOptions } from '../../common/known-options.ts';
import { compileEagerly } from '../../schema/eager.ts';
import { formatIssues } from '../../schema/index.ts';
import { compileScopes, type ScopeRule, type ScopesOf } from '../auth/scopes.ts';
import type { CallLimit, ConcurrencyRule, RateRule, SheddingOptions } from '../limits/index.ts';
import { compilePolicy as checkNetwork, type NetworkPolicy } from '../network/policy.ts';
import type { SandboxPolicy } from '../sandbox/contract.ts';
import { type AccessPolicy, compileAccess } from './access.ts';
import { type CheckArguments, compileArguments } from './arguments.ts';
import { type Policy, PolicyError } from './contract.ts';
import { policySchema } from './schema.ts';
import { parseDuration, parseSize } from './units.ts';

/** Where tools may read and write. */
export interface FileAccess {
  /** Everything that may be read, including what may be written. */
  readonly read: readonly string[];
  /** What may be written. */
  readonly write: readonly string[];
  /** The largest file; undefined: the default of `openRoots`. */
  readonly maxFileBytes?: number;
}

/** A compiled policy. */
export interface CompiledPolicy {
  /** The policy as it was written. */
  readonly source: Policy;
  /** Who may see and use what. */
  readonly access: AccessPolicy;
  /** Finds the first argument that violates a rule. */
  readonly checkArguments: CheckArguments;
  /** The scopes that a request needs. */
  readonly scopesOf: ScopesOf;
  /** For `requireScopes`. */
  readonly scopes: readonly ScopeRule[];
  /** For `rateLimit`. */
  readonly rate: readonly RateRule[];
  /** For `limitConcurrency`. */
  readonly concurrency: readonly ConcurrencyRule[];
  /** For `limitCalls`. */
  readonly calls: readonly CallLimit[];
  /** For `shedLoad`; undefined when the policy has no `shedding`. */
  readonly shedding: SheddingOptions | undefined;
  /** For `openRoots`; undefined when the policy has no rules for files. */
  readonly files: FileAccess | undefined;
  /** For `createSandbox`; undefined when no command is allowed. */
  readonly sandbox: SandboxPolicy | undefined;
  /** For `createFetcher`; undefined when the policy has no rules for the network. */
  readonly network: NetworkPolicy | undefined;
}

let compiled: ReturnType<typeof compileEagerly> | undefined;

/** Created on first use, so that importing the guards does not compile a schema. */
const schemaOfPolicies = () =>
  (compiled ??= compileEagerly(policySchema, { direction: 'input', root: 'object', where: 'policy' }));

/** Validates a policy and compiles it for one profile. Throws a `PolicyError` that says what to fix. */
export function compilePolicy(source: unknown, options: { readonly profile?: string } = {}): CompiledPolicy {
  assertKnownOptions('compilePolicy', options, { profile: true });
  const validation = schemaOfPolicies().validator.validate(source);
  if (validation instanceof Promise || !validation.ok) {
    const why = validation instanceof Promise ? 'it cannot be checked' : formatIssues(validation.issues);
    throw new PolicyError(`This is not a policy: ${why}`);
  }
  const policy = source as Policy;
  try {
    return prepare(policy, options.profile);
  } catch (error) {
    if (error instanceof PolicyError) throw error;
    throw new PolicyError(
      `This policy cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

function prepare(policy: Policy, profile: string | undefined): CompiledPolicy {
  const { limits = {}, files, network, scopes = [] } = policy;
  if (network !== undefined) checkNetwork(network);
  return {
    source: policy,
    access: compileAccess(policy, profile),
    checkArguments: compileArguments(policy, profile),
    scopes,
    scopesOf: compileScopes(scopes),
    rate: (limits.rate ?? []).map(({ window, ...rest }) => ({ ...rest, windowMs: parseDuration(window) })),
    concurrency: limits.concurrency ?? [],
    calls: (limits.calls ?? []).map(({ timeout, maxResult, ...rest }) => ({
      ...rest,
      ...(timeout === undefined ? {} : { timeoutMs: parseDuration(timeout) }),
      ...(maxResult === undefined ? {} : { maxResultBytes: parseSize(maxResult) }),
    })),
    shedding: limits.shedding && {
      ...(limits.shedding.maxLag === undefined ? {} : { maxLagMs: parseDuration(limits.shedding.maxLag) }),
      ...(limits.shedding.maxInFlight === undefined ? {} : { maxInFlight: limits.shedding.maxInFlight }),
    },
    files: files && {
      read: [...new Set([...(files.read ?? []), ...(files.write ?? [])])],
      write: files.write ?? [],
      ...(files.maxFile === undefined ? {} : { maxFileBytes: parseSize(files.maxFile) }),
    },
    sandbox: sandboxOf(policy),
    network,
  };
}

function sandboxOf({ commands }: Policy): SandboxPolicy | undefined {
  if (commands === undefined || commands.programs.length === 0) return undefined;
  const { timeout, maxOutput, ...rest } = commands;
  const limits = {
    ...(timeout === undefined ? {} : { timeoutMs: parseDuration(timeout) }),
    ...(maxOutput === undefined ? {} : { maxOutputBytes: parseSize(maxOutput) }),
  };
  return { ...rest, limits };
}
