// Retries with exponential back-off and full jitter, within a signal. The caller decides which errors are retryable.

import { pause } from '../../common/wait.ts';

export interface BackoffOptions {
  /** Total number of attempts. */
  readonly attempts: number;
  /** The wait before the second attempt is a random part of this; it doubles with each further attempt. */
  readonly baseMs: number;
  readonly maxMs: number;
  readonly signal?: AbortSignal;
  /** Whether this error may be temporary, or after how many milliseconds the service said it would be over. */
  readonly isRetryable: (error: unknown) => boolean | number;
  readonly random?: () => number;
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** Runs `attempt` until it succeeds, fails for good, or the attempts are used up; then throws the last error. */
export async function retry<T>(attempt: () => Promise<T>, options: BackoffOptions): Promise<T> {
  const { attempts, baseMs, maxMs, signal, isRetryable, random = Math.random, wait = pause } = options;
  for (let tried = 1; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      const worth = tried < attempts && signal?.aborted !== true ? isRetryable(error) : false;
      // If the service asks for a longer wait than we allow, there is no second attempt.
      if (worth === false || (typeof worth === 'number' && worth > maxMs)) throw error;
      const backOffMs = Math.min(maxMs, baseMs * 2 ** (tried - 1)) * random();
      await wait(Math.max(typeof worth === 'number' ? worth : 0, backOffMs), signal);
    }
  }
}
