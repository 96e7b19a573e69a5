// The fetcher with the interface of the platform's `fetch`, for libraries that take one (key sets, OAuth). Bodies are read
// completely, within the fetcher's limits, before the `Response` is returned.

import type { Fetcher, FetchInit } from './fetcher.ts';

/** Returns a `fetch` that follows the fetcher's policy. */
export function toWebFetch(fetcher: Fetcher): (input: string | URL, init?: RequestInit) => Promise<Response> {
  return async (input, init = {}) => {
    const sent = new Headers(init.headers);
    if (init.body instanceof URLSearchParams && !sent.has('content-type')) {
      sent.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
    }
    const response = await fetcher.fetch(input, {
      method: (init.method?.toUpperCase() ?? 'GET') as FetchInit['method'],
      headers: Object.fromEntries(sent),
      body: bodyOf(init.body),
      signal: init.signal ?? undefined,
      redirect: init.redirect === 'error' ? 'reject' : init.redirect,
    });
    const bytes = await response.bytes();
    const headers = new Headers(response.headers);
    // The bytes are already decompressed: these two headers would be wrong.
    headers.delete('content-encoding');
    headers.delete('content-length');
    const { status } = response;
    const bare = status === 204 || status === 205 || status === 304;
    const web = new Response(bare ? null : new Uint8Array(bytes), { status, headers });
    Object.defineProperty(web, 'url', { value: response.url });
    return web;
  };
}

function bodyOf(body: RequestInit['body']): string | Uint8Array | undefined {
  if (body === null || body === undefined) return undefined;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (body instanceof URLSearchParams) return body.toString();
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new TypeError('The body must be a string, bytes or URLSearchParams');
}
