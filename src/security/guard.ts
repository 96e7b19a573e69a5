// The guards of a server put on in the right order: the audit log outermost, so that it sees what the others refuse.

import type { Server } from '../engine/server.ts';
import type { AuditLog } from './audit/index.ts';
import { type AppliedPolicy, type ApplyOptions, applyPolicy, type CompiledPolicy } from './policy/index.ts';

export interface GuardOptions extends ApplyOptions {
  readonly audit?: AuditLog;
  readonly policy?: CompiledPolicy;
}

/** Guards that are in force. */
export interface Guarded {
  readonly policy: AppliedPolicy | undefined;
  /** Lets go of clocks and files. Call it when the server has closed. */
  close(): Promise<void>;
}

/** Puts guards on a server, before the first transport. */
export function guardServer(server: Server, options: GuardOptions): Guarded {
  const { audit, policy } = options;
  audit?.install(server);
  const applied = policy && applyPolicy(server, policy, options);
  return {
    policy: applied,
    async close() {
      applied?.close();
      await audit?.close();
    },
  };
}
