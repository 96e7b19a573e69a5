// Records of tasks for tests of stores.

import { randomBytes } from 'node:crypto';
import type { TaskRecord } from '../../src/engine/tasks/store/task-store.ts';

/** A queued task that is due now. */
export function taskRecord(given: Partial<TaskRecord> = {}): TaskRecord {
  const now = Date.now();
  return {
    id: randomBytes(24).toString('base64url'),
    service: 'server',
    owner: 'issuer\u0000ada',
    tool: 'render',
    arguments: { scene: 'harbour' },
    digest: 'digest',
    phase: 'queued',
    createdAtMs: now,
    updatedAtMs: now,
    expiresAtMs: now + 3_600_000,
    inputs: [],
    steps: [],
    context: { capabilities: {}, revision: '2025-11-25' },
    attempt: 0,
    version: 1,
    fence: 0,
    dueAtMs: now,
    recover: 'fail',
    maxAttempts: 3,
    ...given,
  };
}
