// The pauses of a server for all its callers. A failed start is the same for everyone. A process of one caller that ends delays
// only the next process of that caller: otherwise one caller could keep the server from the others.

import type { UpstreamConfig } from '../config/gateway-config.ts';
import { RestartPolicy } from './restart-policy.ts';

/** Callers whose failures are remembered; the oldest are forgotten. */
const maxCallers = 1_000;

/** Callers are named by the key of their connections. */
export class RestartPolicies {
  readonly #isShared: boolean;
  readonly #newPolicy: () => RestartPolicy;
  readonly #starts: RestartPolicy;
  readonly #callers = new Map<string, RestartPolicy>();

  constructor({ restart, isolation }: Pick<UpstreamConfig, 'restart' | 'isolation'>, downMs: number | undefined) {
    this.#isShared = isolation === 'shared';
    this.#newPolicy = () => new RestartPolicy(restart, downMs);
    this.#starts = this.#newPolicy();
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
    this.#of(key).started();
  }

  startFailed(): void {
    this.#starts.failed();
  }

  /** A process ended. */
  ended(key: string): void {
    const policy = this.#of(key);
    policy.failed();
    if (this.#isShared) return;
    this.#callers.delete(key);
    this.#callers.set(key, policy);
    if (this.#callers.size > maxCallers) this.#callers.delete(this.#callers.keys().next().value as string);
  }

  /** The next start does not wait, whatever failed before. */
  allowStart(): void {
    this.#starts.allowStart();
    for (const policy of this.#callers.values()) policy.allowStart();
  }

  reset(): void {
    this.#starts.reset();
    this.#callers.clear();
  }

  #of(key: string): RestartPolicy {
    return this.#isShared ? this.#starts : (this.#callers.get(key) ?? this.#newPolicy());
  }
}
