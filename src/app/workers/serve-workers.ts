// Serves a profile with several processes: checks that this is possible, and starts them.

import { availableParallelism } from 'node:os';
import { version } from '../../common/version.ts';
import type { StreamLogger } from '../../logging/logger.ts';
import type { ResolvedSettings } from '../config/resolve.ts';
import { announce, printSetup } from '../serving/announce.ts';
import type { HttpSettings } from '../settings/settings.ts';
import { UsageError } from '../usage-error.ts';
import { supervise } from './supervisor.ts';

export interface WorkersRun {
  readonly workers: number | 'auto';
  /** Why the profile needs one process, if it does. */
  readonly oneProcess: string | undefined;
  /** What to do then. Default: serve it without workers. */
  readonly instead?: string | undefined;
  readonly resolved: ResolvedSettings;
  readonly showSetup: boolean;
  readonly logger: StreamLogger;
}

/** Serves until the process is stopped, or ends it with the exit code of a worker that could not start. */
export async function serveWithWorkers(run: WorkersRun): Promise<void> {
  const { workers, oneProcess, instead = 'Serve it without --workers', resolved, showSetup, logger } = run;
  const { profile, enable, auth, console } = resolved.settings;
  if (console !== undefined) {
    throw new UsageError('The console shows one process, so it cannot be used with --workers. Leave one of them out');
  }
  const reason = enable.workers ? 'the programs of --enable workers belong to one process' : oneProcess;
  if (reason !== undefined) {
    throw new UsageError(`The profile ${profile} cannot be served with --workers: ${reason}. ${instead}`);
  }
  const count = workers === 'auto' ? availableParallelism() : workers;
  const onListening = (url: string): void => {
    const fields = { profile, transport: 'http', version, workers: count };
    announce(`listening on ${url}`, fields, logger);
    void printSetup(url, resolved, auth !== undefined, showSetup, logger);
  };
  const { drainDelayMs } = resolved.settings.http as HttpSettings;
  process.exit(await supervise({ count, drainDelayMs, logger, onListening }));
}
