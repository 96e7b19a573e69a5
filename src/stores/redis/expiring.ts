// `ExpiringStore` in Redis. A mark that cannot be stored is an error, so that single-use tokens are rejected while Redis is
// unreachable.

import type { Json } from '../../protocol/model.ts';
import type { ExpiringStore } from '../../protocol/ports.ts';
import type { RedisConnection } from './connection.ts';
import type { RedisScript } from './script.ts';

/** Sets a key if its value is the expected one; the empty text stands for an absent key. */
const replace: RedisScript = {
  text: `
    local value = redis.call('GET', KEYS[1]) or ''
    if value ~= ARGV[1] then return 0 end
    redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
    return 1`,
};

export class RedisExpiringStore implements ExpiringStore {
  readonly #redis: RedisConnection;
  readonly #lookUps: RedisConnection;
  readonly #prefix: string;
  /** Called after a mark was stored, before it counts. */
  readonly #replicated: () => Promise<void> | undefined;

  /** `lookUps`: a connection of its own, since a request that waits for one must not wait for long values and replicas. */
  constructor(
    redis: RedisConnection,
    lookUps: RedisConnection,
    prefix: string,
    replicated: () => Promise<void> | undefined = () => undefined,
  ) {
    this.#redis = redis;
    this.#lookUps = lookUps;
    this.#prefix = `${prefix}x:`;
    this.#replicated = replicated;
  }

  async get(key: string): Promise<Json | undefined> {
    const text = await this.#lookUps.lookUp('GET', this.#prefix + key);
    return text === null ? undefined : (JSON.parse(text as string) as Json);
  }

  async set(key: string, value: Json, ttlMs: number): Promise<void> {
    await this.#redis.send('SET', this.#prefix + key, JSON.stringify(value), 'PX', lifetime(ttlMs));
  }

  async add(key: string, value: Json, ttlMs: number): Promise<boolean> {
    const stored = await this.#redis.send(
      ...['SET', this.#prefix + key, JSON.stringify(value), 'PX', lifetime(ttlMs), 'NX'],
    );
    await this.#replicated();
    return stored === 'OK';
  }

  async replace(key: string, expected: Json | undefined, value: Json, ttlMs: number): Promise<boolean> {
    const before = expected === undefined ? '' : JSON.stringify(expected);
    const args = [before, JSON.stringify(value), lifetime(ttlMs)];
    return (await this.#redis.run(replace, [this.#prefix + key], args)) === 1;
  }

  async delete(key: string): Promise<void> {
    await this.#redis.send('DEL', this.#prefix + key);
  }
}

/** Redis rejects a lifetime of zero. */
const lifetime = (ttlMs: number): string => String(Math.max(1, Math.ceil(ttlMs)));
