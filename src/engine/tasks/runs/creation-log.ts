// Logs that tasks cannot be created, such as those of a caller that has too many: once, and not for each.

import { FailureLog } from '../../../common/failure-log.ts';
import type { Logger } from '../../../common/logger.ts';

export function createCreationLog(logger: Logger | undefined): FailureLog {
  return new FailureLog(logger, {
    failed: 'a task could not be created; the client waits instead',
    recovered: 'tasks have been created again for a minute',
    level: 'warn',
    // Other callers may have tasks while one has too many.
    quietMs: 60_000,
  });
}
