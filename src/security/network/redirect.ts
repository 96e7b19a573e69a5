// What a redirect turns a request into, or why it is refused. Only the message is judged here; where it leads is
// checked again from the beginning, like any other URL.

import type { IncomingMessage } from 'node:http';
import { networkErrors } from './errors.ts';

/** A request as it goes out, before its host is resolved. */
export interface OutgoingRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

// All that another origin may learn. A list of what to keep, not of what to drop: keys travel under many names.
const harmlessHeaders = new Set(['accept', 'accept-encoding', 'accept-language', 'user-agent']);
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/** The request that an answer asks for; `undefined` when it is no redirect. */
export function nextRequest(
  request: OutgoingRequest,
  answer: IncomingMessage,
  maxUrlChars: number,
): OutgoingRequest | undefined {
  const status = answer.statusCode ?? 0;
  const { location } = answer.headers;
  if (!redirectStatuses.has(status) || location === undefined) return undefined;
  if (location.length > maxUrlChars) throw networkErrors.redirect('its URL is too long');
  let url: URL;
  try {
    // Node hands headers over byte by byte; browsers read this one as UTF-8, and so must whoever checks it.
    url = new URL(Buffer.from(location, 'latin1').toString(), request.url);
  } catch {
    throw networkErrors.redirect('its URL cannot be read');
  }
  if (request.url.protocol === 'https:' && url.protocol === 'http:') {
    throw networkErrors.redirect('it leads from https to http');
  }
  const becomesGet =
    (status === 303 && request.method !== 'HEAD') || ((status === 301 || status === 302) && request.method === 'POST');
  const sameOrigin = url.origin === request.url.origin;
  if (!sameOrigin && !becomesGet && request.body !== undefined) {
    // A body may hold a password or a client secret just as a header may.
    throw networkErrors.redirect('it would send the body to another origin');
  }
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(
      ([name]) => harmlessHeaders.has(name) || (sameOrigin && !(becomesGet && name.startsWith('content-'))),
    ),
  );
  return becomesGet ? { url, method: 'GET', headers } : { ...request, url, headers };
}
