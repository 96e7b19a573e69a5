// The request that a redirect leads to, or why the redirect is rejected. This file checks only the message; the target is
// checked like any other URL.

import type { IncomingMessage } from 'node:http';
import { networkErrors } from './errors.ts';

/** A request to send, before its host is resolved. */
export interface RedirectRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

// All that another origin may receive. A list of what to keep, not of what to drop: secrets have many header names.
const harmlessHeaders = new Set(['accept', 'accept-encoding', 'accept-language', 'user-agent']);
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/** The request that a response redirects to; `undefined` if it is not a redirect. */
export function nextRequest(
  request: RedirectRequest,
  answer: IncomingMessage,
  maxUrlChars: number,
): RedirectRequest | undefined {
  const status = answer.statusCode ?? 0;
  const { location } = answer.headers;
  if (!redirectStatuses.has(status) || location === undefined) return undefined;
  if (location.length > maxUrlChars) throw networkErrors.redirect('its URL is too long');
  let url: URL;
  try {
    // Node decodes headers byte by byte; browsers decode this one as UTF-8, and so must this check.
    url = new URL(Buffer.from(location, 'latin1').toString(), request.url);
  } catch {
    throw networkErrors.redirect('its URL is not valid');
  }
  if (request.url.protocol === 'https:' && url.protocol === 'http:') {
    throw networkErrors.redirect('it leads from https to http');
  }
  const becomesGet =
    (status === 303 && request.method !== 'HEAD') || ((status === 301 || status === 302) && request.method === 'POST');
  const sameOrigin = url.origin === request.url.origin;
  if (!sameOrigin && !becomesGet && request.body !== undefined) {
    // A body may contain a password or a client secret just as a header may.
    throw networkErrors.redirect('it would send the body to another origin');
  }
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(
      ([name]) => harmlessHeaders.has(name) || (sameOrigin && !(becomesGet && name.startsWith('content-'))),
    ),
  );
  return becomesGet ? { url, method: 'GET', headers } : { ...request, url, headers };
}
