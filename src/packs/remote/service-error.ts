// Why a service out there gave no answer, in words a person can use.

import { NetworkError } from '../../security/network/errors.ts';

export type ServiceErrorCode =
  /** No answer in time. */
  | 'timeout'
  /** No connection, or one that broke. */
  | 'network'
  /** An answer with a status that means no. */
  | 'status'
  /** The service wants proof that a person is asking. */
  | 'challenge'
  /** An answer that can not be understood: the service has changed, or is another one. */
  | 'unreadable'
  /** We leave it alone for a while. */
  | 'paused';

/** A call to a service that came to nothing. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ServiceErrorCode;
  readonly status: number | undefined;
  /** When the service said that it may be asked again. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ServiceErrorCode,
    message: string,
    options: { cause?: unknown; status?: number; retryAfterMs?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The sentences. */
export const serviceErrors = {
  timeout: (cause: unknown) => new ServiceError('timeout', 'Network timeout', { cause }),
  network: (cause: NetworkError) => new ServiceError('network', cause.message, { cause }),
  status: (service: string, status: number, retryAfterMs?: number) =>
    new ServiceError('status', `${service} answered with status ${status}${statusWords[status] ?? ''}`, {
      status,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }),
  unreadable: (service: string, why: string, cause?: unknown) =>
    new ServiceError('unreadable', `The answer of ${service} can not be read: ${why}`, { cause }),
  paused: (service: string, waitMs: number, because: string | undefined) =>
    new ServiceError(
      'paused',
      `${service} is left alone for another ${Math.max(1, Math.ceil(waitMs / 1000))} s${because === undefined ? '' : ` (${because})`}`,
      { retryAfterMs: waitMs },
    ),
};

const statusWords: Readonly<Record<number, string>> = {
  401: ' (it wants credentials)',
  403: ' (forbidden)',
  404: ' (not found)',
  429: ' (too many requests)',
  503: ' (unavailable)',
};

/** Turns what the fetcher threw into a service error; aborts and our own bugs pass unchanged. */
export function fromNetwork(error: unknown): unknown {
  if (!(error instanceof NetworkError)) return error;
  if (error.code === 'NETWORK_TIMEOUT') return serviceErrors.timeout(error);
  return serviceErrors.network(error);
}

/** Errors that may be gone a moment later. A refusal by policy, a challenge or a strange page will not be. */
export function isPassing(error: unknown): boolean | number {
  if (!(error instanceof ServiceError)) return false;
  if (error.code === 'timeout') return true;
  if (error.code === 'network') {
    const { code } = error.cause as NetworkError;
    return code === 'NETWORK_FAILED' || code === 'NETWORK_UNRESOLVED';
  }
  const passing = error.status !== undefined && [429, 500, 502, 503, 504].includes(error.status);
  return passing && error.retryAfterMs !== undefined ? error.retryAfterMs : passing;
}
