// The errors of outgoing requests, one row each, with string codes for the caller. An abort by the caller is not in this
// table: it rejects with the caller's own reason, as `fetch` does.

import { UserError } from '../../common/user-error.ts';

/** Why an outgoing request was denied or failed; callers may branch on it. */
export type NetworkErrorCode =
  | 'NETWORK_BAD_POLICY'
  | 'NETWORK_BAD_REQUEST'
  | 'NETWORK_FORBIDDEN'
  | 'NETWORK_UNRESOLVED'
  | 'NETWORK_REDIRECT'
  | 'NETWORK_TOO_LARGE'
  | 'NETWORK_TIMEOUT'
  | 'NETWORK_BAD_RESPONSE'
  | 'NETWORK_FAILED';

/** A denied or failed outgoing request. */
export class NetworkError extends UserError {
  override readonly name = 'NetworkError';
  /** Why the request was denied or failed. */
  readonly code: NetworkErrorCode;

  constructor(code: NetworkErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const clip = (text: string): string => {
  const visible = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\uFFFD');
  return visible.length > 200 ? `${visible.slice(0, 200)}…` : visible;
};

/** All errors of outgoing requests. */
export const networkErrors = {
  badPolicy: (rule: string) =>
    new NetworkError('NETWORK_BAD_POLICY', `Not a CIDR, address or host name: ${clip(rule)}`),
  badRequest: (why: string, cause?: unknown) =>
    new NetworkError('NETWORK_BAD_REQUEST', `Cannot send the request: ${clip(why)}`, { cause }),
  forbidden: (host: string, why: string) =>
    new NetworkError('NETWORK_FORBIDDEN', `Connection to ${clip(host)} is not allowed: ${why}`),
  unresolved: (host: string, cause?: unknown) =>
    new NetworkError('NETWORK_UNRESOLVED', `No address found for ${clip(host)}`, { cause }),
  redirect: (why: string) => new NetworkError('NETWORK_REDIRECT', `Redirect rejected: ${why}`),
  tooLarge: (what: string, maxBytes: number) =>
    new NetworkError('NETWORK_TOO_LARGE', `The ${what} exceeds the limit of ${maxBytes} bytes`),
  timeout: (timeoutMs: number) => new NetworkError('NETWORK_TIMEOUT', `No complete response within ${timeoutMs} ms`),
  badResponse: (why: string, cause?: unknown) =>
    new NetworkError('NETWORK_BAD_RESPONSE', `The response cannot be used: ${clip(why)}`, { cause }),
  failed: (host: string, cause: unknown) =>
    new NetworkError('NETWORK_FAILED', `Request to ${clip(host)} failed: ${codeOf(cause) ?? 'connection error'}`, {
      cause,
    }),
};

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Turns an error of Node's HTTP client or decompressor into a row of the table. */
export function fromNode(error: unknown, host: string, maxHeaderBytes: number): unknown {
  if (error instanceof NetworkError) return error;
  const code = codeOf(error);
  if (code === undefined) return error;
  if (code === 'HPE_HEADER_OVERFLOW') return networkErrors.tooLarge('header', maxHeaderBytes);
  if (code.startsWith('HPE_')) return networkErrors.badResponse(`not HTTP (${code})`, error);
  if (/^(?:Z_|ERR_BROTLI|ERR__ERROR|ERR_PADDING|BROTLI)/.test(code)) {
    return networkErrors.badResponse(`invalid compressed data (${code})`, error);
  }
  if (/^ERR_(?:INVALID|HTTP_INVALID|UNESCAPED)/.test(code)) {
    return networkErrors.badRequest((error as Error).message, error);
  }
  return networkErrors.failed(host, error);
}
