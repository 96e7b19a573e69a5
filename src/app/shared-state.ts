// State that replicas on several machines share through Redis: sessions, messages, events, tasks, rate limits. Loaded
// only with --store.

import { readFileSync } from 'node:fs';
import type { StreamLogger } from '../logging/logger.ts';
import { openRedis, parseRedisAddress, type RedisOptions } from '../stores/redis/index.ts';
import type { HttpOptions } from '../transports/http.ts';
import { type ConfiguredKeys, sealKeys } from './seal-keys.ts';
import type { RedisSettings } from './settings.ts';
import type { PersistentStatePack } from './task-store.ts';
import { UsageError } from './usage-error.ts';
import { version } from './version.ts';

/** Connects to Redis and joins the other replicas. */
export async function openSharedState(
  settings: RedisSettings,
  configured: ConfiguredKeys,
  logger: StreamLogger,
): Promise<PersistentStatePack> {
  const keys = sealKeys(configured);
  const redis = await openRedis({
    ...redisOptions(settings),
    name: configured.profile,
    version,
    keys: [keys.key, ...keys.previousKeys],
    logger,
  });
  const { store, tasks, bus, sharedEventLog, monitor, buckets } = redis;
  const http: HttpOptions = {
    sharedEventLog,
    monitors: [monitor],
    // A limit must be above 0; this one has passed as soon as it starts.
    limits: { maxStaleMs: settings.maxStaleMs || Number.MIN_VALUE },
  };
  return {
    name: 'shared-state',
    persistentState: { ...keys, store, tasks: { store: tasks }, bus },
    http,
    buckets,
    install() {},
    close: () => redis.close(),
  };
}

/** The address and the password. Throws a `UsageError` if they cannot be used. */
export function redisOptions({
  url,
  password,
  passwordFile,
  prefix,
  waitReplicas,
}: RedisSettings): Omit<RedisOptions, 'name'> {
  try {
    parseRedisAddress(url);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const secret = password ?? (passwordFile === undefined ? undefined : readPassword(passwordFile));
  return {
    url,
    waitReplicas,
    ...(prefix === undefined ? {} : { prefix }),
    ...(secret === undefined ? {} : { password: secret }),
  };
}

function readPassword(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`--store-password-file: ${(error as Error).message}`);
  }
  if (text === '') throw new UsageError(`--store-password-file: ${file} is empty`);
  return text;
}
