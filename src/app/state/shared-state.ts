// State that replicas on several machines share through Redis: sessions, messages, events, tasks, rate limits. Loaded
// only with --store.

import { version } from '../../common/version.ts';
import type { StreamLogger } from '../../logging/logger.ts';
import { openRedis, parseRedisAddress, type RedisAddress, type RedisOptions } from '../../stores/redis/index.ts';
import type { HttpOptions } from '../../transports/http.ts';
import { readFileOf } from '../settings/read-file-of.ts';
import { type ConfiguredKeys, sealKeys } from '../settings/seal-keys.ts';
import type { RedisSettings } from '../settings/settings.ts';
import { UsageError } from '../usage-error.ts';
import type { PersistentStatePack } from './task-store.ts';

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

/** The address, the passwords and the certificates. Throws a `UsageError` if they cannot be used. */
export function redisOptions(settings: RedisSettings): Omit<RedisOptions, 'name'> {
  const { url, prefix, waitReplicas, passwordFile, sentinelPasswordFile, caFile, certFile, keyFile } = settings;
  const { kind, tls: isEncrypted } = addressOf(url);
  const hasSentinelPassword = (settings.sentinelPassword ?? sentinelPasswordFile) !== undefined;
  if (hasSentinelPassword && kind !== 'sentinel') {
    throw new UsageError(
      'The password of the Sentinels has no effect: --store must be redis-sentinel://host:26379#name',
    );
  }
  if ((caFile ?? certFile) !== undefined && !isEncrypted) {
    throw new UsageError('Certificates have no effect without TLS: --store must begin with rediss');
  }
  const password = settings.password ?? readText('--store-password-file', passwordFile);
  const sentinelPassword = settings.sentinelPassword ?? readText('redis.sentinelPasswordFile', sentinelPasswordFile);
  const tls = {
    ...optional('ca', readText('--store-ca', caFile, 'CERTIFICATE')),
    ...optional('cert', readText('redis.certFile', certFile, 'CERTIFICATE')),
    ...optional('key', readText('redis.keyFile', keyFile, 'PRIVATE KEY')),
  };
  return {
    url,
    waitReplicas,
    ...optional('prefix', prefix),
    ...optional('password', password),
    ...optional('sentinelPassword', sentinelPassword),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
  };
}

function addressOf(url: string): RedisAddress {
  try {
    return parseRedisAddress(url);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** An object with that member, or without it if there is no value. */
function optional<K extends string>(name: K, value: string | undefined): { readonly [key in K]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [key in K]: string });
}

/** Reads the file of a setting. `pem`: what it must contain. */
function readText(setting: string, file: string | undefined, pem?: string): string | undefined {
  if (file === undefined) return undefined;
  const text = readFileOf(setting, file).trim();
  if (text === '') throw new UsageError(`${setting}: ${file} is empty`);
  if (pem !== undefined && !new RegExp(`-----BEGIN [A-Z ]*${pem}-----`).test(text)) {
    throw new UsageError(`${setting}: ${file} has no ${pem.toLowerCase()} in the PEM format`);
  }
  return text;
}
