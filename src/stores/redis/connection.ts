// One connection to Redis: counts commands, limits how long they may take, and runs scripts.

import { monotonicMs } from '../../common/clock.ts';
import type { Logger } from '../../common/logger.ts';
import { settleWithin } from '../../common/stepped-timeout.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { connectRedis, type DriverOptions, type RedisDriver, type Reply } from './driver.ts';
import { type RedisScript, sha1 } from './script.ts';

export interface ConnectionLimits {
  /** How long a look-up may take, in milliseconds in which this process was not busy. A request waits for it. Default 250. */
  readonly lookUpTimeoutMs?: number | undefined;
  /** The same for everything else. Default 2,000. */
  readonly commandTimeoutMs?: number | undefined;
}

export interface ConnectionOptions extends Omit<DriverOptions, 'onError'>, ConnectionLimits {
  readonly logger: Logger;
  /** Any key of the deployment: all of them are on the same node of a cluster. */
  readonly key: string;
}

export class RedisConnection {
  readonly #driver: RedisDriver;
  readonly #key: string;
  readonly #lookUpMs: number;
  readonly #commandMs: number;
  /** Commands that were sent. */
  commands = 0;
  /** A command has timed out, and none has been answered since. */
  #isSlow = false;
  /** Since when Redis has not responded to anything that was sent, or only with temporary errors. */
  #silentSinceMs: number | undefined;
  #isChecking = false;
  readonly #loaded = new Set<RedisScript>();
  #closed = false;

  static async open({
    logger,
    key,
    lookUpTimeoutMs,
    commandTimeoutMs,
    ...options
  }: ConnectionOptions): Promise<RedisConnection> {
    let reportedAtMs = Number.NEGATIVE_INFINITY;
    const onError = (error: Error): void => {
      // It is tried again several times a second.
      if (performance.now() - reportedAtMs < reportMs) return;
      reportedAtMs = performance.now();
      logger.warn('the connection to Redis failed and is tried again', { reason: error.message || error.name });
    };
    return new RedisConnection(await connectRedis({ ...options, onError }), key, { lookUpTimeoutMs, commandTimeoutMs });
  }

  private constructor(driver: RedisDriver, key: string, limits: ConnectionLimits) {
    this.#driver = driver;
    this.#key = key;
    this.#lookUpMs = limits.lookUpTimeoutMs ?? 250;
    this.#commandMs = limits.commandTimeoutMs ?? 2_000;
  }

  /** Reads something that a request waits for. Fails immediately while Redis is slow or unreachable. */
  async lookUp(...args: readonly string[]): Promise<Reply> {
    if (this.#isSlow) throw wireErrors.storeUnavailable();
    return this.#within(this.#lookUpMs, args);
  }

  send(...args: readonly string[]): Promise<Reply> {
    return this.#within(this.#commandMs, args);
  }

  /** Waits for entries of streams. The reply comes after `blockMs` at the latest. */
  block(blockMs: number, ...args: readonly string[]): Promise<Reply> {
    return this.#within(blockMs + this.#commandMs, args);
  }

  /** Runs a script. Redis keeps it, so its text is sent once. */
  async run(script: RedisScript, keys: readonly string[], args: readonly (string | number)[]): Promise<Reply> {
    const rest = [String(keys.length), ...keys, ...args.map(String)];
    if (this.#loaded.has(script)) {
      try {
        return await this.send('EVALSHA', sha1(script), ...rest);
      } catch (error) {
        // After a restart or a failover Redis does not have it any more.
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      }
    }
    const reply = await this.send('EVAL', script.text, ...rest);
    this.#loaded.add(script);
    return reply;
  }

  /** For how long Redis has not responded. Sends a command, so that the next call knows it of a connection that is not used. */
  check(): number {
    const nowMs = monotonicMs();
    const silentMs = nowMs - (this.#silentSinceMs ?? nowMs);
    if (!this.#isChecking && !this.#closed) {
      this.#isChecking = true;
      this.#send(['PING'])
        .catch(() => {})
        .finally(() => {
          this.#isChecking = false;
        });
    }
    return silentMs;
  }

  close(): void {
    this.#closed = true;
    this.#driver.close();
  }

  async #within(ms: number, args: readonly string[]): Promise<Reply> {
    if (this.#closed) throw wireErrors.storeUnavailable(new Error('The connection to Redis is closed'));
    this.commands++;
    return settleWithin(ms, this.#send(args), () => {
      this.#isSlow = true;
      throw wireErrors.storeUnavailable(new Error(`Redis did not respond within ${ms} ms`));
    });
  }

  #send(args: readonly string[]): Promise<Reply> {
    this.#silentSinceMs ??= monotonicMs();
    return this.#driver.send(args, this.#key).then(this.#replied, this.#failed);
  }

  readonly #replied = (reply: Reply): Reply => {
    this.#isSlow = false;
    this.#silentSinceMs = undefined;
    return reply;
  };

  readonly #failed = (error: unknown): never => {
    this.#isSlow = false;
    const [, code] = (error instanceof Error && /^([A-Z]+) /.exec(error.message)) || [];
    // Other error replies are bugs of this program; these errors are temporary.
    if (code !== undefined && !temporaryErrors.has(code)) {
      this.#silentSinceMs = undefined;
      throw error;
    }
    throw wireErrors.storeUnavailable(error);
  };
}

/** Errors of a Redis that is full, starting, failing over, or cannot save its data. */
const temporaryErrors: ReadonlySet<string> = new Set([
  ...['OOM', 'LOADING', 'MISCONF', 'BUSY'],
  ...['READONLY', 'MASTERDOWN', 'NOREPLICAS', 'CLUSTERDOWN', 'TRYAGAIN'],
]);

/** How often a connection that cannot be made is reported. */
const reportMs = 10_000;
