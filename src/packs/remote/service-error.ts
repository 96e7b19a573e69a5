// Why a call to a remote service failed, as text for people.

import { UserError } from '../../common/user-error.ts';
import { NetworkError } from '../../security/network/errors.ts';

export type ServiceErrorCode =
  /** No response in time. */
  | 'timeout'
  /** No connection, or it broke. */
  | 'network'
  /** An error status. */
  | 'status'
  /** The service requires proof that a person sends the request. */
  | 'challenge'
  /** A response that cannot be decoded: the service has changed, or is a different one. */
  | 'unreadable'
  /** Calls are paused for a while. */
  | 'paused';

/** A failed call to a service. */
export class ServiceError extends UserError {
  override readonly name = 'ServiceError';
  readonly code: ServiceErrorCode;
  readonly status: number | undefined;
  /** When the service said that it can be called again. */
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

/** The error messages. */
export const serviceErrors = {
  timeout: (cause: unknown) => new ServiceError('timeout', 'Network timeout', { cause }),
  network: (cause: NetworkError) => new ServiceError('network', cause.message, { cause }),
  status: (service: string, status: number, retryAfterMs?: number) =>
    new ServiceError('status', `${service} responded with status ${status}${statusTexts[status] ?? ''}`, {
      status,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    }),
  unreadable: (service: string, why: string, cause?: unknown) =>
    new ServiceError('unreadable', `The response of ${service} cannot be read: ${why}`, { cause }),
  paused: (service: string, waitMs: number, because: string | undefined) =>
    new ServiceError(
      'paused',
      `Requests to ${service} are paused for another ${Math.max(1, Math.ceil(waitMs / 1000))} s${because === undefined ? '' : ` (${because})`}`,
      { retryAfterMs: waitMs },
    ),
};

const statusTexts: Readonly<Record<number, string>> = {
  401: ' (it requires credentials)',
  403: ' (forbidden)',
  404: ' (not found)',
  429: ' (too many requests)',
  503: ' (unavailable)',
};

/** Turns what the fetcher threw into a service error; aborts and our own bugs are not changed. */
export function fromNetwork(error: unknown): unknown {
  if (!(error instanceof NetworkError)) return error;
  if (error.code === 'NETWORK_TIMEOUT') return serviceErrors.timeout(error);
  return serviceErrors.network(error);
}

/** Errors that may be temporary. A denial by policy, a challenge or an unexpected page is not. */
export function isTransient(error: unknown): boolean | number {
  if (!(error instanceof ServiceError)) return false;
  if (error.code === 'timeout') return true;
  if (error.code === 'network') {
    const { code } = error.cause as NetworkError;
    return code === 'NETWORK_FAILED' || code === 'NETWORK_UNRESOLVED';
  }
  const passing = error.status !== undefined && [429, 500, 502, 503, 504].includes(error.status);
  return passing && error.retryAfterMs !== undefined ? error.retryAfterMs : passing;
}
