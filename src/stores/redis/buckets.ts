// Rate limits that all processes share. Each process decides on its own, and exchanges the tokens used with the others
// through Redis ten times a second, so a call does not wait for Redis. Only exact limits ask Redis on every call.

import type { Logger } from '../../common/logger.ts';
import type { RedisConnection } from './connection.ts';
import type { RedisScript } from './script.ts';

/** One bucket and its rate, as mooring/security defines it. */
export interface RedisBucket {
  readonly key: string;
  /** How long until one token is refilled. */
  readonly intervalMs: number;
  /** How many tokens it holds when full. */
  readonly burst: number;
  /** Every call asks Redis. */
  readonly exact?: boolean;
}

/** How often the processes exchange their counts. Until then, each may admit requests without knowing of the others. */
const exchangeMs = 100;
/** Without an exchange for this long, each process admits its share only. */
const apartMs = 1_000;
/** Stops callers with ever new names from filling the memory; beyond it the buckets that will be full soonest are discarded. */
const maxBuckets = 100_000;
/** Buckets that one script exchanges: Redis serves nothing else meanwhile. */
const maxExchanged = 1_000;
/** Times are fractions of a millisecond; a rounding error must not cause a wait. */
const rounding = 1e-3;

/**
 * Takes used tokens from buckets, each stored as the time at which it will be full again. KEYS: the buckets. ARGV: for each the
 * time for one token, and how many were used. Returns how long until each is full, in ms.
 */
const exchange: RedisScript = {
  text: `
    local time = redis.call('TIME')
    local now = time[1] * 1000 + time[2] / 1000
    local left = {}
    for at, key in ipairs(KEYS) do
      local full = math.max(tonumber(redis.call('GET', key) or '0'), now) + ARGV[at * 2 - 1] * ARGV[at * 2]
      redis.call('SET', key, string.format('%.3f', full), 'PX', math.ceil(full - now) + 1000)
      left[at] = string.format('%.3f', full - now)
    end
    return left`,
};

/**
 * Takes one token of every bucket, or none at all. KEYS: the buckets. ARGV: for each the time for one token, and how
 * many it holds. Returns how long to wait until all have one.
 */
const take: RedisScript = {
  text: `
    local time = redis.call('TIME')
    local now = time[1] * 1000 + time[2] / 1000
    local full, wait = {}, 0
    for at, key in ipairs(KEYS) do
      full[at] = math.max(tonumber(redis.call('GET', key) or '0'), now)
      wait = math.max(wait, full[at] - now - (ARGV[at * 2] - 1) * ARGV[at * 2 - 1])
    end
    if wait > ${rounding} then return string.format('%.3f', wait) end
    for at, key in ipairs(KEYS) do
      local later = full[at] + ARGV[at * 2 - 1]
      redis.call('SET', key, string.format('%.3f', later), 'PX', math.ceil(later - now) + 1000)
    end
    return '0'`,
};

interface BucketState {
  /** When it will be full again, on the clock of `performance.now()`. */
  fullAtMs: number;
  /** Tokens used here that Redis does not know of yet. */
  used: number;
  readonly intervalMs: number;
}

export class RedisBuckets {
  readonly #redis: RedisConnection;
  readonly #prefix: string;
  /** How many processes there are now. */
  readonly #processes: () => number;
  readonly #logger: Logger;
  readonly #states = new Map<string, BucketState>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #exchangedAtMs = Number.NEGATIVE_INFINITY;
  /** When the oldest token was used that has not been exchanged. */
  #usedAtMs: number | undefined;
  #closed = false;

  constructor(redis: RedisConnection, prefix: string, processes: () => number, logger: Logger) {
    this.#redis = redis;
    this.#prefix = `${prefix}rate:`;
    this.#processes = processes;
    this.#logger = logger;
  }

  /** Takes no token; the first `take` creates a bucket. */
  find(buckets: readonly RedisBucket[]): { take(nowMs: number): number | Promise<number> } {
    if (!buckets.some(({ exact }) => exact === true)) return { take: (nowMs) => this.#take(buckets, nowMs) };
    return { take: (nowMs) => this.#takeExactly(buckets).catch(() => this.#take(buckets, nowMs)) };
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #take(buckets: readonly RedisBucket[], nowMs: number): number {
    // Without an exchange, each request costs one token for every process, so that all together stay within the limit.
    const weight = this.#isApart(nowMs) ? this.#processes() : 1;
    let waitMs = 0;
    for (const { key, intervalMs, burst } of buckets) {
      const fullAtMs = this.#states.get(key)?.fullAtMs ?? nowMs;
      waitMs = Math.max(waitMs, fullAtMs - nowMs - Math.max(0, burst - weight) * intervalMs);
    }
    if (waitMs > rounding) return Math.ceil(waitMs);
    for (const { key, intervalMs } of buckets) {
      let state = this.#states.get(key);
      if (state === undefined) {
        if (this.#states.size >= maxBuckets) this.#evict(nowMs);
        this.#states.set(key, (state = { fullAtMs: nowMs, used: 0, intervalMs }));
      }
      state.fullAtMs = Math.max(state.fullAtMs, nowMs) + intervalMs * weight;
      state.used++;
    }
    this.#usedAtMs ??= nowMs;
    if (this.#timer === undefined && !this.#closed) {
      this.#timer = setTimeout(() => void this.#exchange(), exchangeMs);
      this.#timer.unref();
    }
    return 0;
  }

  #isApart(nowMs: number): boolean {
    return this.#usedAtMs !== undefined && nowMs - Math.max(this.#usedAtMs, this.#exchangedAtMs) > apartMs;
  }

  async #takeExactly(buckets: readonly RedisBucket[]): Promise<number> {
    const keys = buckets.map(({ key }) => this.#prefix + key);
    const args = buckets.flatMap(({ intervalMs, burst }) => [intervalMs, burst]);
    return Math.ceil(Number(await this.#redis.run(take, keys, args)));
  }

  async #exchange(): Promise<void> {
    const used = [...this.#states].filter(([, state]) => state.used > 0);
    try {
      for (let from = 0; from < used.length; from += maxExchanged)
        await this.#exchangeSome(used.slice(from, from + maxExchanged));
      this.#usedAtMs = undefined;
      this.#exchangedAtMs = performance.now();
    } catch (error) {
      this.#logger.debug('rate limits were not exchanged with other processes', { error });
    }
    this.#dropFull(performance.now());
    // A bucket that is not used here is exchanged when it is used again.
    const isNeeded = !this.#closed && [...this.#states.values()].some(({ used: more }) => more > 0);
    this.#timer = isNeeded ? setTimeout(() => void this.#exchange(), exchangeMs) : undefined;
    this.#timer?.unref();
  }

  async #exchangeSome(some: readonly (readonly [string, BucketState])[]): Promise<void> {
    const counts = some.map(([, { used }]) => used);
    const keys = some.map(([key]) => this.#prefix + key);
    const args = some.flatMap(([, { intervalMs, used }]) => [intervalMs, used]);
    const left = (await this.#redis.run(exchange, keys, args)) as readonly string[];
    const nowMs = performance.now();
    for (const [at, [, state]] of some.entries()) {
      // Plus the tokens that were used during the exchange.
      state.used -= counts[at] as number;
      state.fullAtMs = nowMs + Number(left[at]) + state.used * state.intervalMs;
    }
  }

  #dropFull(nowMs: number): void {
    for (const [key, { fullAtMs, used }] of this.#states) {
      if (fullAtMs <= nowMs && used === 0) this.#states.delete(key);
    }
  }

  /** Makes space for a tenth: a scan for every new caller would help an attacker who invents callers. */
  #evict(nowMs: number): void {
    this.#dropFull(nowMs);
    let excess = this.#states.size - Math.floor(maxBuckets * 0.9);
    if (excess <= 0) return;
    const soonest = [...this.#states].sort(([, a], [, b]) => a.fullAtMs - b.fullAtMs);
    for (const [key] of soonest) {
      if (excess-- <= 0) return;
      this.#states.delete(key);
    }
  }
}
