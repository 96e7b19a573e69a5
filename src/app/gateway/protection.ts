// What is installed on every server of a gateway: telemetry, the audit log and the policy. A caller has the same limits at
// every address, because all policies share their counters.

import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { AuditLog } from '../../security/audit/index.ts';
import type { Authentication } from '../auth/authentication.ts';
import type { CompiledPolicy, PolicyGuard } from '../settings/policy.ts';
import type { Protect } from './host-contract.ts';

export interface ProtectionOptions {
  readonly policy: CompiledPolicy | undefined;
  readonly audit: AuditLog | undefined;
  readonly challenge: Authentication['challenge'];
  readonly telemetry: (() => Promise<Pack<Server>>) | undefined;
}

export interface Protection {
  readonly protect: Protect;
  /** Replaces the policy of all servers; undefined without a policy. */
  readonly policyGuard: Pick<PolicyGuard, 'replace'> | undefined;
}

/** Loads what is needed, so that a new server can be protected synchronously. */
export async function protection({ policy, audit, challenge, telemetry }: ProtectionOptions): Promise<Protection> {
  const traces = await telemetry?.();
  const guards = new Set<PolicyGuard>();
  let current = policy;
  const enforcing = policy === undefined ? undefined : await loadPolicy();
  return {
    protect(server, upstreamOf, below) {
      if (traces !== undefined) void server.use({ name: traces.name, install: (host) => traces.install(host) });
      audit?.install(server, upstreamOf);
      if (current === undefined || enforcing === undefined) return;
      const guard = enforcing.enforcePolicy(current, {
        buckets: enforcing.buckets,
        ...(challenge === undefined ? {} : { challenge: (scopes) => challenge(scopes, below) }),
      });
      guards.add(guard);
      void server.use({ ...guard, close: () => release(guard) });
    },
    policyGuard:
      policy === undefined
        ? undefined
        : {
            replace(next) {
              current = next;
              for (const guard of guards) guard.replace(next);
            },
          },
  };

  function release(guard: PolicyGuard): void {
    guards.delete(guard);
    void guard.close?.();
  }
}

/** Not without a policy: most gateways have none. */
async function loadPolicy() {
  const { enforcePolicy } = await import('../settings/policy.ts');
  const { createMemoryBuckets } = await import('../../security/limits/index.ts');
  return { enforcePolicy, buckets: createMemoryBuckets() };
}
