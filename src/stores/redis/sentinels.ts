// Several Sentinels, of which some may accept connections and never respond. The library asks them in the order in which they are
// given, again every second, and holds back all commands meanwhile: one that is silent must not be asked before one that responds.

import { settleWithin } from '../../common/stepped-timeout.ts';
import type { RedisHost } from './address.ts';
import type { UnconnectedDriver } from './driver-contract.ts';

export interface SentinelOptions {
  readonly hosts: readonly RedisHost[];
  /** Creates a client that asks the Sentinels in this order. `onError`: it could not ask one of them, or lost a connection. */
  readonly create: (hosts: readonly RedisHost[], onError: (error: Error) => void) => UnconnectedDriver;
  /** Whether a Sentinel responds, within a short time. */
  readonly responds: (host: RedisHost) => Promise<boolean>;
  readonly onError: (error: Error) => void;
}

/**
 * How long a client may take to connect. If this process stands still for longer than a Sentinel may take, the library goes on to the
 * next ones, and stays with those that are silent; a new client does not.
 */
const attemptMs = 5_000;

/** A driver that asks Sentinels that respond first. When one becomes silent, it is replaced by a driver with another order. */
export function createSentinelDriver({ hosts, create, responds, onError }: SentinelOptions): UnconnectedDriver {
  let order = hosts;
  let current: UnconnectedDriver | undefined;
  let opening: UnconnectedDriver | undefined;
  let isReplacing = false;
  let isClosed = false;

  const sorted = async (): Promise<readonly RedisHost[]> => {
    if (hosts.length === 1) return hosts;
    const responding = await Promise.all(hosts.map(responds));
    return [...hosts.filter((_host, n) => responding[n]), ...hosts.filter((_host, n) => !responding[n])];
  };
  /** False: it did not connect in time. */
  const open = async (next: readonly RedisHost[]): Promise<boolean> => {
    if (isClosed) return true;
    const driver = create(next, (error) => {
      // The replacement is not used yet: if it cannot connect, that is reported below.
      if (current !== undefined && driver !== current) return;
      onError(error);
      if (driver === current) void replace();
    });
    opening = driver;
    const connecting = driver.connect().then(() => true);
    let isConnected = false;
    try {
      isConnected = await settleWithin(attemptMs, connecting, () => false);
    } finally {
      opening = undefined;
      if (!isConnected || isClosed) driver.close();
    }
    if (isClosed) return true;
    if (isConnected) {
      current?.close();
      [current, order] = [driver, next];
    } else {
      // It cannot be cancelled.
      connecting.then(() => driver.close()).catch(() => {});
    }
    return isConnected;
  };
  const replace = async (): Promise<void> => {
    if (isReplacing) return;
    isReplacing = true;
    const next = await sorted();
    // Only the first matters: it is the one that is asked while it responds. After a failure the current driver is used on.
    if (next[0] !== order[0]) await open(next).catch(onError);
    isReplacing = false;
  };

  return {
    connect: async () => {
      while (!(await open(await sorted())));
    },
    send: (args, key) => current?.send(args, key) ?? Promise.reject(new Error('The connection to Redis is closed')),
    close() {
      isClosed = true;
      opening?.close();
      current?.close();
    },
  };
}
