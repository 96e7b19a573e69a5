// The fetcher for all outgoing requests: checks where a URL leads, connects to exactly the checked addresses, follows
// redirects by the same rules, and limits time and bytes. No other file opens an outgoing HTTP connection.

import { assertKnownOptions, resolveLimitOptions } from '../../common/known-options.ts';
import { acceptedEncodings } from './body.ts';
import { fromNode, networkErrors } from './errors.ts';
import { sendHop } from './hop.ts';
import { type AddressAccess, compilePolicy, hostOf, type NetworkPolicy } from './policy.ts';
import { nextRequest, type RedirectRequest } from './redirect.ts';
import { type Resolver, resolveTarget, systemResolver } from './resolve.ts';
import { type FetchedResponse, openResponse } from './response.ts';

export { NetworkError, type NetworkErrorCode } from './errors.ts';
export type { NetworkPolicy } from './policy.ts';
export type { Resolver } from './resolve.ts';
export type { FetchedResponse } from './response.ts';

/** The fetcher's limits. A request may lower them but not raise them, except for time. */
export interface FetchLimits {
  /** Bytes of a body, on the wire and decompressed: stops endless bodies and compression bombs. */
  readonly maxBytes: number;
  /** From the call to the last byte of the body: stops servers that send slowly. */
  readonly timeoutMs: number;
  /** Maximum number of redirects: stops loops. */
  readonly maxRedirects: number;
  /** Bytes of the response headers. */
  readonly maxHeaderBytes: number;
  /** Characters of a URL. */
  readonly maxUrlChars: number;
}

const defaultFetchLimits: FetchLimits = {
  maxBytes: 8 * 1024 * 1024,
  timeoutMs: 30_000,
  maxRedirects: 5,
  maxHeaderBytes: 16 * 1024,
  maxUrlChars: 8192,
};

/** What a fetcher may access, and its limits. */
export interface FetcherOptions extends NetworkPolicy, Partial<FetchLimits> {
  /** Finds addresses; by default the system's resolver. */
  readonly resolver?: Resolver;
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: string | readonly string[];
  /** The `User-Agent` of requests. Default `mooring`. */
  readonly userAgent?: string;
}

/** One request. */
export interface FetchInit {
  /** Default `GET`. */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** Headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body; none by default. */
  readonly body?: string | Uint8Array;
  /** Ends the request, or the reading of its body, when aborted. */
  readonly signal?: AbortSignal;
  /** Limit of the decompressed body; never above that of the fetcher. */
  readonly maxBytes?: number;
  /** Time for the whole request, body included. Default: that of the fetcher. */
  readonly timeoutMs?: number;
  /** Accepted media types (`text/html`, `text/*`). Sent as `Accept`; a successful response of another type is rejected. */
  readonly accept?: readonly string[];
  /** `follow` by the fetcher's rules, `manual` to get the 3xx response, `reject` to treat it as an error. */
  readonly redirect?: 'follow' | 'manual' | 'reject';
}

/** Sends requests according to one policy. */
export interface Fetcher {
  /** Resolves when the headers have arrived; the body can be read once, within the same time limit. */
  fetch(url: string | URL, init?: FetchInit): Promise<FetchedResponse>;
}

const known: Record<keyof FetcherOptions, unknown> = {
  ...defaultFetchLimits,
  allow: true,
  deny: true,
  hosts: true,
  ports: true,
  httpsOnly: true,
  resolver: true,
  ca: true,
  userAgent: true,
};

/** Creates a fetcher. Throws `NETWORK_BAD_POLICY` for an invalid rule. */
export function createFetcher(options: FetcherOptions = {}): Fetcher {
  assertKnownOptions('createFetcher', options, known);
  const limits: FetchLimits = resolveLimitOptions<FetchLimits>(defaultFetchLimits, options, ['maxRedirects']);
  const policy = compilePolicy(options);
  const { resolver = systemResolver, ca, userAgent = 'mooring' } = options;

  const follow = async (first: RedirectRequest, init: FetchInit, deadline: FetchDeadline): Promise<FetchedResponse> => {
    let request = first;
    let from: AddressAccess | undefined;
    for (let hops = 0; ; hops++) {
      const { url } = request;
      const route = await resolveTarget(url, policy, resolver, deadline.signal);
      // A public page must not be able to send us to addresses that were allowed for another purpose.
      if (from === 'public' && route.passage === 'allowed') {
        throw networkErrors.forbidden(hostOf(url), 'a public server may not redirect to it');
      }
      from = route.passage;
      const message = await sendHop(
        { ...request, addresses: route.addresses, maxHeaderBytes: limits.maxHeaderBytes, ca },
        deadline.signal,
      ).catch((error: unknown) => {
        throw deadline.signal.aborted ? deadline.signal.reason : fromNode(error, hostOf(url), limits.maxHeaderBytes);
      });
      try {
        const next = init.redirect === 'manual' ? undefined : nextRequest(request, message, limits.maxUrlChars);
        if (next === undefined) {
          const maxBytes = Math.min(init.maxBytes ?? limits.maxBytes, limits.maxBytes);
          const { maxHeaderBytes } = limits;
          return openResponse(message, {
            url,
            maxBytes,
            maxHeaderBytes,
            deadline,
            accept: init.accept,
            redirected: hops > 0,
          });
        }
        if (init.redirect === 'reject') throw networkErrors.redirect('redirects are not allowed here');
        if (hops >= limits.maxRedirects) throw networkErrors.redirect(`more than ${limits.maxRedirects} redirects`);
        request = next;
        message.destroy();
      } catch (error) {
        message.destroy();
        throw error;
      }
    }
  };

  return {
    async fetch(target, init = {}) {
      init.signal?.throwIfAborted();
      const request = prepare(target, init, limits, userAgent);
      const deadline = startDeadline(init.timeoutMs ?? limits.timeoutMs, init.signal);
      try {
        return await follow(request, init, deadline);
      } catch (error) {
        deadline.clear();
        throw error;
      }
    },
  };
}

// Headers that only the fetcher sets. A caller that could set them could reach a host other than the checked one, or
// smuggle a second request.
const ownHeaders =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|accept-encoding)$/;
const methods = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/;

function prepare(target: string | URL, init: FetchInit, limits: FetchLimits, userAgent: string): RedirectRequest {
  const text = String(target);
  if (text.length > limits.maxUrlChars)
    throw networkErrors.badRequest(`the URL exceeds ${limits.maxUrlChars} characters`);
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw networkErrors.badRequest('not an absolute URL', error);
  }
  const method = init.method ?? 'GET';
  if (!methods.test(method)) throw networkErrors.badRequest(`method ${method}`);
  const headers: Record<string, string> = { 'user-agent': userAgent };
  for (const [name, value] of Object.entries(init.headers ?? {})) {
    const lower = name.toLowerCase();
    if (ownHeaders.test(lower)) throw networkErrors.badRequest(`header ${lower} is set by the fetcher`);
    headers[lower] = value;
  }
  if (init.accept !== undefined) headers['accept'] = init.accept.join(', ');
  headers['accept-encoding'] = acceptedEncodings;
  return { url, method, headers, body: typeof init.body === 'string' ? Buffer.from(init.body) : init.body };
}

/** The time limit and the caller's abort as one signal. */
export interface FetchDeadline {
  readonly signal: AbortSignal;
  clear(): void;
}

function startDeadline(timeoutMs: number, outer: AbortSignal | undefined): FetchDeadline {
  const controller = new AbortController();
  const onAbort = () => controller.abort(outer?.reason);
  const clear = () => {
    clearTimeout(timer);
    outer?.removeEventListener('abort', onAbort);
  };
  const timer = Number.isFinite(timeoutMs)
    ? setTimeout(() => controller.abort(networkErrors.timeout(timeoutMs)), Math.min(timeoutMs, 2 ** 31 - 1))
    : undefined;
  outer?.addEventListener('abort', onAbort, { once: true });
  return { signal: controller.signal, clear };
}
