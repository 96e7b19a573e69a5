// Applies changes of the configuration files while the gateway runs. A file that is wrong changes nothing.

import { unwatchFile, watchFile } from 'node:fs';
import type { Logger } from '../../common/logger.ts';
import { isSameConfig } from '../../gateway/config/decode-gateway.ts';
import type { GatewayConfig } from '../../gateway/config/gateway-config.ts';

/** How often the files are checked. Events of the file system miss network drives and files that are replaced. */
const pollMs = 1_000;

export interface ConfigWatchOptions {
  readonly files: readonly string[];
  readonly current: GatewayConfig;
  readonly read: () => Promise<GatewayConfig>;
  readonly apply: (config: GatewayConfig) => Promise<void>;
  readonly logger: Logger;
}

export interface ConfigWatch {
  /** Reads the files again now. Never rejects: an error is logged, and stored in `problem`. */
  reload(): Promise<void>;
  /** What is applied. */
  readonly config: GatewayConfig;
  /** Why the files were not applied the last time; undefined if they were. */
  readonly problem: string | undefined;
  close(): void;
}

/** Watches the files until it is closed. */
export function watchConfig({ files, current, read, apply, logger }: ConfigWatchOptions): ConfigWatch {
  let config = current;
  let problem: string | undefined;
  let last = Promise.resolve();
  const readAgain = async (): Promise<void> => {
    try {
      const next = await read();
      problem = undefined;
      if (isSameConfig(config, next)) return;
      await apply(next);
      config = next;
      logger.notice('the configuration of the gateway was reloaded', { servers: next.servers.length });
    } catch (error) {
      problem = (error as Error).message;
      logger.error(`the configuration was not reloaded, and nothing has changed: ${problem.replaceAll('\n', '; ')}`);
    }
  };
  const reload = (): Promise<void> => (last = last.then(readAgain));
  const changed = (): void => {
    reload();
  };
  for (const file of files) watchFile(file, { interval: pollMs, persistent: false }, changed);
  return {
    reload,
    get config() {
      return config;
    },
    get problem() {
      return problem;
    },
    close() {
      for (const file of files) unwatchFile(file, changed);
    },
  };
}
