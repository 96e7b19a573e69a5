// Why an upstream could not be used, as callers and operators read it.

import { ClientError } from '../../client/index.ts';

/** An upstream is not connected, so the call did not reach it. */
export class UpstreamUnavailable extends Error {
  readonly slug: string;
  /** When it makes sense to try again. */
  readonly retryAfterMs: number | undefined;

  constructor(slug: string, message: string, retryAfterMs?: number, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'UpstreamUnavailable';
    this.slug = slug;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether starting it again cannot help until the operator changes something. */
export function isPermanent(error: unknown): boolean {
  if (needsLogin(error)) return true;
  return error instanceof ClientError && ['configuration', 'spawn-failed', 'unsupported-revision'].includes(error.code);
}

/** The upstream requires credentials that we do not have. */
export function needsLogin(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'AuthError' || (error instanceof ClientError && error.code === 'unauthorized');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
