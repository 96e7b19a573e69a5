// The pauses of a server for all its callers. A failed start is the same for everyone. A process of one caller that ends, or a
// connection that is rejected because of its credentials, delays only the next connection of that caller: otherwise one caller
// could keep the server from the others.

import type { UpstreamConfig } from '../config/gateway-config.ts';
import { RestartBackoff } from './restart-backoff.ts';

/** Callers whose failures are remembered; the oldest are forgotten. */
const maxCallers = 1_000;

interface CallerFailures {
  readonly backoff: RestartBackoff;
  /** The last one; undefined after a start. */
  error: unknown;
}

/** Callers are named by the key of their connections. */
export class CallerBackoffs {
  readonly #isShared: boolean;
  readonly #newBackoff: () => RestartBackoff;
  readonly #starts: RestartBackoff;
  readonly #callers = new Map<string, CallerFailures>();

  constructor({ restart, isolation }: Pick<UpstreamConfig, 'restart' | 'isolation'>, downMs: number | undefined) {
    this.#isShared = isolation === 'shared';
    this.#newBackoff = () => new RestartBackoff(restart, downMs);
    this.#starts = this.#newBackoff();
  }

  /** It failed to start too often, or processes that all callers share ended too often. */
  get isDown(): boolean {
    return this.#starts.isDown;
  }

  /** The same, or the processes of this caller ended too often. */
  isDownFor(key: string): boolean {
    return this.isDown || this.#of(key).isDown;
  }

  /** How long the next start waits, for a caller or at least. */
  waitMs(key?: string): number {
    return Math.max(this.#starts.waitMs, key === undefined ? 0 : this.#of(key).waitMs);
  }

  started(key: string): void {
    this.#starts.started();
    const caller = this.#callers.get(key);
    if (caller === undefined) return;
    caller.backoff.started();
    caller.error = undefined;
  }

  startFailed(): void {
    this.#starts.failed();
  }

  /** Why the last connection of this caller failed, if that concerned no other. */
  errorOf(key: string): unknown {
    return this.#callers.get(key)?.error;
  }

  /** A process of this caller ended, or its credentials were rejected. */
  failed(key: string, error: unknown): void {
    const backoff = this.#of(key);
    backoff.failed();
    if (this.#isShared) return;
    this.#callers.delete(key);
    this.#callers.set(key, { backoff, error });
    if (this.#callers.size > maxCallers) this.#callers.delete(this.#callers.keys().next().value as string);
  }

  /** The next start does not wait, whatever failed before. */
  allowStart(): void {
    this.#starts.allowStart();
    for (const { backoff } of this.#callers.values()) backoff.allowStart();
  }

  reset(): void {
    this.#starts.reset();
    this.#callers.clear();
  }

  #of(key: string): RestartBackoff {
    return this.#isShared ? this.#starts : (this.#callers.get(key)?.backoff ?? this.#newBackoff());
  }
}
