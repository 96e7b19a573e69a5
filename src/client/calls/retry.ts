// When to try again, and after what pause.

import { ClientError } from '../errors.ts';
import type { RetryOptions } from '../options.ts';

/** Retry options with every default filled in. */
export interface ResolvedRetry {
  readonly maxAttempts: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
}

/** Fills in the defaults; `false` means one attempt. */
export function resolveRetry(options: RetryOptions | false | undefined): ResolvedRetry {
  if (options === false) return { maxAttempts: 1, baseDelayMs: 0, maxDelayMs: 0 };
  return {
    maxAttempts: options?.maxAttempts ?? 3,
    baseDelayMs: options?.baseDelayMs ?? 200,
    maxDelayMs: options?.maxDelayMs ?? 5_000,
  };
}

/** Statuses with which a server, or a proxy in front of it, reports a temporary failure. */
const transientCodes = [429, 502, 503, 504];

/**
 * Whether a failure may pass by itself. `unsent`: the request certainly did not reach the server, so that sending it
 * again repeats nothing. `unknown`: it may have.
 */
export function transience(error: unknown): 'unsent' | 'unknown' | undefined {
  if (!(error instanceof ClientError)) return undefined;
  if (error.code === 'connect-failed') return 'unsent';
  if (error.code === 'connection-lost' || error.code === 'server-exited') return 'unknown';
  const answered = error.code === 'http-error' || error.code === 'server-error';
  if (!answered || !transientCodes.includes(error.serverError?.status ?? 0)) return undefined;
  return error.serverError?.status === 429 ? 'unsent' : 'unknown';
}

/** The pause before attempt `next` (2 for the first repetition): random within a window that doubles. */
export function pauseMs(next: number, { baseDelayMs, maxDelayMs }: ResolvedRetry, error?: unknown): number {
  const window = Math.min(baseDelayMs * 2 ** (next - 2), maxDelayMs);
  const retryAfterMs = error instanceof ClientError ? (error.serverError?.retryAfterMs ?? 0) : 0;
  return Math.max(window / 2 + (Math.random() * window) / 2, Math.min(retryAfterMs, maxDelayMs));
}
