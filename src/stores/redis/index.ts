// Everything that several processes of one server share, in Redis or Valkey: sessions, messages between the processes, events of
// streams, tasks, rate limits.

import { assertKnownOptions } from '../../common/known-options.ts';
import { type Logger, silentLogger } from '../../common/logger.ts';
import { wireErrors } from '../../protocol/errors.ts';
import type { Monitor } from '../../protocol/monitor.ts';
import type { SealKey } from '../../protocol/ports.ts';
import { checkSealKey } from '../../protocol/seal-key.ts';
import { parseRedisAddress, showAddress } from './address.ts';
import { RedisBuckets } from './buckets.ts';
import { RedisBus } from './bus.ts';
import { RedisConnectError } from './connect-error.ts';
import { type ConnectionLimits, RedisConnection } from './connection.ts';
import { RedisEventLog } from './event-log.ts';
import { RedisExpiringStore } from './expiring.ts';
import { RedisTasks, type RedisTasksOptions } from './tasks.ts';

export { parseRedisAddress, type RedisAddress, type RedisHost, showAddress } from './address.ts';
export type { RedisBucket } from './buckets.ts';
export { checkRedis, type RedisFacts } from './check.ts';
export type { RedisBuckets, RedisBus, RedisEventLog, RedisExpiringStore, RedisTasks, RedisTasksOptions };

export interface RedisOptions extends RedisTasksOptions, ConnectionLimits {
  /**
   * `redis://host:6379/0`, `rediss://…` for TLS, `redis-sentinel://host:26379,host:26379/0#name`, or
   * `redis-cluster://host:6379,host:6379`.
   */
  readonly url: string;
  /** The name of the server. */
  readonly name: string;
  /** Its version, for messages. */
  readonly version?: string;
  /** The key of the server and earlier ones: another server that uses the same prefix by mistake is recognized. */
  readonly keys?: readonly SealKey[];
  /** Every key in Redis starts with it, in braces. Default `mooring:` and the name of the server. */
  readonly prefix?: string;
  /** Instead of those in the URL, which other users of the machine may see. An empty password is none. */
  readonly username?: string;
  readonly password?: string;
  /** For a Sentinel that has a password of its own. */
  readonly sentinelPassword?: string;
  /** PEM: authorities to trust instead of those of Node.js, and the certificate of this client. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /**
   * How many replicas of Redis must have an ended session, a used token, and the creation and end of a task, before they count.
   * Default 0: a failover may undo the last ones.
   */
  readonly waitReplicas?: number;
  readonly logger?: Logger;
}

/** Throws for values with which another server's data would be used, or a call would fail later. */
function assertValues({ name, keys }: RedisOptions): void {
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(
      "openRedis needs the name of the server: openRedis({ url: 'redis://host:6379', name: 'library' })",
    );
  }
  if (keys !== undefined && !Array.isArray(keys)) {
    throw new TypeError('openRedis, keys: must be a list of keys, the one of the server first: { keys: [key] }');
  }
  for (const key of keys ?? []) checkSealKey(key);
}

/** The parts of a server that Redis provides. */
export interface RedisStores {
  /** The address without user and password, for messages. */
  readonly address: string;
  /** Every key starts with it. */
  readonly prefix: string;
  /** Pass it to `createServer({ bus })`. */
  readonly bus: RedisBus;
  /** Pass it to `createServer({ store })`. */
  readonly store: RedisExpiringStore;
  /** Pass it to `createServer({ tasks: { store } })`. */
  readonly tasks: RedisTasks;
  /** Pass it to `serveHttp(server, { sharedEventLog })`. */
  readonly sharedEventLog: RedisEventLog;
  /** Pass it to `rateLimit(rules, { store })`. */
  readonly buckets: RedisBuckets;
  /** Pass it to `serveHttp(server, { monitors })`: the server is not ready while Redis cannot be reached. */
  readonly monitor: Monitor;
  /** How many commands were sent, except those that wait for messages, renew the entry of this process, and check a connection. */
  readonly commands: number;
  /** Sends a command, for checks. */
  send(...args: readonly string[]): Promise<unknown>;
  close(): Promise<void>;
}

/** If Redis has not responded for this long, the server is not ready, and requests should be sent elsewhere. */
const maxAgeMs = 5_000;
/** How long replicas may take. */
const replicaMs = 1_000;

const known: Record<keyof RedisOptions, true> = {
  url: true,
  name: true,
  version: true,
  keys: true,
  prefix: true,
  username: true,
  password: true,
  sentinelPassword: true,
  tls: true,
  waitReplicas: true,
  logger: true,
  lookUpTimeoutMs: true,
  commandTimeoutMs: true,
  maxTasks: true,
  maxBytesTotal: true,
};

/**
 * Connects to Redis and joins the other processes. Fails if Redis cannot be reached, or if another server uses the same prefix.
 *
 * @example
 * const redis = await openRedis({ url: 'redis://127.0.0.1:6379', name: 'library', keys: [key] });
 * const server = createServer({ name: 'library', version: '1.0.0', key, store: redis.store, bus: redis.bus });
 */
export async function openRedis(options: RedisOptions): Promise<RedisStores> {
  assertKnownOptions('openRedis', options, known);
  assertValues(options);
  const { name, version, keys = [], waitReplicas = 0, logger = silentLogger } = options;
  const address = parseRedisAddress(options.url);
  const prefix = keyPrefix(options.prefix ?? `mooring:${name}`);
  const { username, password, sentinelPassword, tls, lookUpTimeoutMs, commandTimeoutMs } = options;
  const limits = { lookUpTimeoutMs, commandTimeoutMs };
  const connect = (): Promise<RedisConnection> =>
    RedisConnection.open({ address, username, password, sentinelPassword, tls, logger, key: prefix, ...limits });
  // The second one waits for messages most of the time, and look-ups do not wait for long values that the first one sends.
  const opened = await openAll([connect, connect, connect], showAddress(address));
  const [redis, reader, lookUps] = opened as [RedisConnection, RedisConnection, RedisConnection];
  const close = (): void => {
    for (const each of opened) each.close();
  };
  const commands = (): number => redis.commands + lookUps.commands;
  // Any of the connections may be lost, or not be possible again, while the others are used.
  const silentMs = (bus: RedisBus): number => Math.max(bus.ageMs, redis.check(), lookUps.check());
  const replicated = (): Promise<void> | undefined =>
    waitReplicas > 0 ? waitForReplicas(redis, waitReplicas) : undefined;
  try {
    const bus = await RedisBus.join(redis, reader, { name, version, keys, prefix, logger });
    const sharedEventLog = new RedisEventLog(redis, prefix, logger);
    const buckets = new RedisBuckets(redis, prefix, () => bus.processes.size, logger);
    return {
      address: showAddress(address),
      prefix,
      bus,
      store: new RedisExpiringStore(redis, lookUps, prefix, replicated),
      tasks: new RedisTasks(redis, prefix, bus, options, replicated),
      sharedEventLog,
      buckets,
      monitor: () => ({
        status: silentMs(bus) > maxAgeMs ? 'unavailable' : 'healthy',
        metrics: [
          {
            name: 'mooring_redis_commands_total',
            type: 'counter',
            help: 'Commands sent to Redis.',
            value: commands(),
          },
          {
            name: 'mooring_redis_unconfirmed_responses_total',
            type: 'counter',
            help: 'Responses sent before Redis had confirmed their copy.',
            value: sharedEventLog.unconfirmed,
          },
        ],
      }),
      get commands() {
        return commands();
      },
      send: (...args) => redis.send(...args),
      async close() {
        buckets.close();
        sharedEventLog.close();
        await bus.close();
        close();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

async function openAll(
  connects: readonly (() => Promise<RedisConnection>)[],
  address: string,
): Promise<readonly RedisConnection[]> {
  const results = await Promise.allSettled(connects.map((connect) => connect()));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined) return results.map((result) => (result as PromiseFulfilledResult<RedisConnection>).value);
  for (const result of results) if (result.status === 'fulfilled') result.value.close();
  const { reason } = failed;
  if (!(reason instanceof RedisConnectError)) throw reason;
  throw new Error(`Redis at ${address} cannot be used: ${reason.message}. ${reason.remedy}`, { cause: reason });
}

/** All keys of a deployment have the same part in braces, so that a cluster keeps them on one node. */
function keyPrefix(prefix: string): string {
  const plain = prefix.replace(/[:\s]+$/, '');
  if (plain === '' || /[{}\s]/.test(plain)) {
    throw new TypeError(`The Redis prefix ${JSON.stringify(prefix)} must have characters other than spaces and braces`);
  }
  return `{${plain}}:`;
}

async function waitForReplicas(redis: RedisConnection, count: number): Promise<void> {
  const reached = Number(await redis.send('WAIT', String(count), String(replicaMs)));
  if (reached >= count) return;
  throw wireErrors.storeUnavailable(new Error(`Only ${reached} of ${count} replicas of Redis have confirmed a change`));
}
