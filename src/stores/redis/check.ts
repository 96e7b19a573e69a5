// Facts about a Redis that matter before a server depends on it.

import { assertKnownOptions } from '../../common/known-options.ts';
import { silentLogger } from '../../common/logger.ts';
import { parseRedisAddress, showAddress } from './address.ts';
import { RedisConnection } from './connection.ts';

export interface RedisFacts {
  readonly address: string;
  readonly product: 'Redis' | 'Valkey';
  readonly version: string;
  /** Whether it has all commands that a server uses. */
  readonly isSupported: boolean;
  /** `noeviction`, or what is evicted when the memory is full. */
  readonly evictionPolicy: string;
  /** Whether everything survives a restart of Redis. */
  readonly persists: boolean;
  /** The median of a few commands. */
  readonly roundTripMs: number;
}

const oldest = { Redis: [6, 2], Valkey: [7, 2] } as const;
const pings = 5;

const known = { url: true, username: true, password: true, sentinelPassword: true, tls: true };

/** Connects, asks, and disconnects. Rejects with the reason, and a `remedy`, if that is not possible. Writes nothing. */
export async function checkRedis(
  options: { readonly url: string } & Pick<
    Parameters<typeof RedisConnection.open>[0],
    'username' | 'password' | 'sentinelPassword' | 'tls'
  >,
): Promise<RedisFacts> {
  assertKnownOptions('checkRedis', options, known);
  const { url, ...rest } = options;
  const address = parseRedisAddress(url);
  const redis = await RedisConnection.open({ address, ...rest, logger: silentLogger, key: 'mooring' });
  try {
    const fields = parseInfo(String(await redis.send('INFO')));
    const product = fields.has('valkey_version') ? 'Valkey' : 'Redis';
    const version = fields.get(product === 'Valkey' ? 'valkey_version' : 'redis_version') ?? '0';
    const times: number[] = [];
    for (let n = 0; n < pings; n++) {
      const begun = performance.now();
      await redis.send('PING');
      times.push(performance.now() - begun);
    }
    return {
      address: showAddress(address),
      product,
      version,
      isSupported: isAtLeast(version, oldest[product]),
      evictionPolicy: fields.get('maxmemory_policy') ?? 'unknown',
      persists: fields.get('aof_enabled') === '1',
      roundTripMs: times.sort((a, b) => a - b)[Math.floor(pings / 2)] as number,
    };
  } finally {
    redis.close();
  }
}

function parseInfo(text: string): Map<string, string> {
  return new Map(
    text
      .split(/\r?\n/)
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}
