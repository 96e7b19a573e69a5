// Opens the stores of a server outside of its memory: in Redis, in the data folder, or in the process that started the workers.

import type { StreamLogger } from '../../logging/logger.ts';
import type { ResolvedSettings } from '../config/resolve.ts';
import { UsageError } from '../usage-error.ts';
import type { WorkerProcess } from '../workers/worker.ts';
import { keepsTasks, type PersistentStatePack, persistentTasks } from './task-store.ts';

/** Undefined: everything is in memory. */
export async function openState(
  resolved: ResolvedSettings,
  worker: WorkerProcess | undefined,
  logger: StreamLogger,
): Promise<PersistentStatePack | undefined> {
  const { http, dataDir, profile, redis } = resolved.settings;
  const { key, previousKeys = [] } = http ?? {};
  if (redis !== undefined && http?.enabled === true) {
    if (key === undefined) {
      throw new UsageError(
        '--store needs a key that all replicas share. Set MOORING_KEY; you can create one with: openssl rand -base64 32',
      );
    }
    const { openSharedState } = await import('./shared-state.ts');
    return openSharedState(redis, { key, previousKeys, profile }, logger);
  }
  if (key === undefined) {
    if (previousKeys.length === 0) {
      // Workers need a store that all of them can read.
      const tasks = worker !== undefined || keepsTasks(resolved) ? persistentTasks(dataDir, logger) : undefined;
      return worker === undefined || tasks === undefined ? tasks : workerState(worker, tasks);
    }
    throw new UsageError(
      'http.previousKeys (MOORING_KEY_PREVIOUS) works only together with a current key. Set MOORING_KEY',
    );
  }
  const { openPersistentState } = await import('./persistent-state.ts');
  return openPersistentState({ key, previousKeys, profile, folder: dataDir, bus: worker?.bus }, logger);
}

/** The state that workers share without a configured key. It lasts as long as the process that started them. */
async function workerState(worker: WorkerProcess, tasks: PersistentStatePack): Promise<PersistentStatePack> {
  const { store, bus } = worker;
  return {
    ...tasks,
    name: 'worker-state',
    persistentState: { ...tasks.persistentState, key: await worker.key(), previousKeys: [], store, bus },
  };
}
