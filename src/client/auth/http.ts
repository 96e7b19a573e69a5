// Requests of the authorization code: a time limit, a size cap and no automatic redirect on any of them. Metadata is
// fetched without credentials and may follow a few redirects; a request with credentials never does.

import { parseJson } from '../../common/parse-json.ts';
import { readCapped } from '../../common/read-capped.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { ProxyError } from '../../transports/proxy/environment.ts';
import { fetchThroughProxy } from '../transports/proxy-fetch.ts';
import { createUrlGuard, type UrlGuard, type UrlGuardOptions } from './discovery/url-guard.ts';
import { AuthError, authErrors } from './errors.ts';

/** The slice of `fetch` used here, so that a pinned or proxied one can take its place. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** Bounded HTTP for one server's authorization. */
export interface AuthHttp {
  readonly guard: UrlGuard;
  /** One request, no redirect followed; the body is read completely, within the cap. */
  request(what: string, url: string, init: RequestInit): Promise<Response>;
  /** A JSON document. Absent (4xx, or something that is not a JSON object) is an answer, failure is an `AuthError`. */
  document(
    what: string,
    url: URL,
    init: { headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<FetchedDocument>;
  /** The same limits on behalf of another host, one that the configuration names and not the MCP server. */
  toward(host: string): AuthHttp;
}

/** A fetched document, or that there is none. */
export type FetchedDocument = { readonly ok: true; readonly value: JsonObject } | { readonly ok: false };

/** Limits of these requests. */
export interface AuthHttpOptions extends UrlGuardOptions {
  readonly fetch?: FetchLike;
  /** For one request; stops a server that accepts and then says nothing. Default 20 s. */
  readonly timeoutMs?: number;
  /** For one response body; stops a metadata document of any size from filling memory. Default 256 KiB. */
  readonly maxBytes?: number;
}

// Enough for "http to https" plus "www" plus one more; a loop ends here.
const maxRedirects = 3;

/** Creates bounded HTTP on top of a fetch. */
export function createAuthHttp(server: string | URL, options: AuthHttpOptions = {}): AuthHttp {
  const guard = createUrlGuard(server, options);
  const fetchIt = options.fetch ?? fetchThroughProxy;
  const timeoutMs = options.timeoutMs ?? 20_000;
  const maxBytes = options.maxBytes ?? 262_144;

  async function request(what: string, url: string, init: RequestInit): Promise<Response> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    try {
      const response = await fetchIt(url, { ...init, signal, redirect: 'manual' });
      const body = await readCapped(response, maxBytes);
      if (body === undefined) throw authErrors.unreachable(what, url, `the response exceeds ${maxBytes} bytes`);
      const bare = body.length === 0 || response.status === 204 || response.status === 205 || response.status === 304;
      return new Response(bare ? null : body, { status: response.status, headers: response.headers });
    } catch (error) {
      if (error instanceof AuthError) throw error;
      if (init.signal?.aborted) throw init.signal.reason;
      throw authErrors.unreachable(what, url, reasonOf(error, timeout, timeoutMs), error);
    }
  }

  return {
    guard,
    request,
    toward: (host) => createAuthHttp(host, options),
    async document(what, start, init) {
      let url = start;
      for (let hop = 0; hop <= maxRedirects; hop++) {
        const response = await request(what, url.href, {
          headers: { accept: 'application/json', ...init.headers },
          signal: init.signal,
        });
        const location = response.headers.get('location');
        if (response.status >= 300 && response.status < 400 && location !== null) {
          url = guard.checkRedirect(what, url, location);
          continue;
        }
        if (response.status >= 500 || response.status === 429) {
          throw authErrors.unreachable(what, url.href, `HTTP ${response.status}`);
        }
        return response.ok ? asObject(await response.text()) : { ok: false };
      }
      throw authErrors.unreachable(what, start.href, `more than ${maxRedirects} redirects`);
    },
  };
}

/** A web page in place of a document is common (catch-all routes) and means "not here". */
function asObject(text: string): FetchedDocument {
  const value = parseJson(text);
  return isObject(value) ? { ok: true, value } : { ok: false };
}

function reasonOf(error: unknown, timeout: AbortSignal, timeoutMs: number): string {
  if (timeout.aborted) return `no response within ${timeoutMs} ms`;
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ProxyError) return error.message;
  // Node's fetch hides the useful part ("connect ECONNREFUSED …") one level down.
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}
