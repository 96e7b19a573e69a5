// Limits a fetcher to one service: its host and nothing else.

import type { Fetcher, FetcherOptions, NetworkPolicy } from '../../security/network/fetcher.ts';
import type { compilePolicy } from '../../security/network/policy.ts';

/** Some services reject clients without a familiar prefix; the rest says honestly who sends the request. */
const userAgent = 'Mozilla/5.0 (compatible; mooring)';

/** Which addresses the fetcher may use for a service. */
export interface FetcherAccess {
  /** The operator configured the URL: then its address may be private. */
  readonly given: boolean;
  /** The network policy, which takes precedence. */
  readonly network?: NetworkPolicy | undefined;
  /** Redirects stay at the port as well: for services that get credentials. */
  readonly samePort?: boolean;
  /** Bytes of a response. Default: that of the fetcher. */
  readonly maxBytes?: number;
}

/**
 * Options for the service at `url`; redirects stay on its host. A private address is allowed only if the operator
 * configured the URL, and only at that port: a public name must not resolve to an internal service. If a policy covers
 * the network, only the policy can allow private addresses, and a service it does not allow is denied here.
 */
function optionsFor(url: URL, access: FetcherAccess, compile: typeof compilePolicy): FetcherOptions {
  const { given, network, samePort = false, maxBytes } = access;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const own = {
    hosts: [samePort ? `${url.hostname}:${port}` : url.hostname],
    userAgent,
    ...(maxBytes === undefined ? {} : { maxBytes }),
  };
  if (network !== undefined) {
    compile(network).url(url);
    const { hosts: _checked, ...bounds } = network;
    return { ...bounds, ...own };
  }
  return { ...own, ...(given ? { allow: [`${url.hostname}:${port}`] } : {}) };
}

/**
 * The fetcher of a service, created with the first request: a denial by policy is an error of that request, and start-up
 * loads no HTTP code.
 */
export function fetcherFor(url: URL, reach: FetcherAccess): Fetcher {
  let making: Promise<Fetcher> | undefined;
  const make = async (): Promise<Fetcher> => {
    const [{ createFetcher }, { compilePolicy }] = await Promise.all([
      import('../../security/network/fetcher.ts'),
      import('../../security/network/policy.ts'),
    ]);
    return createFetcher(optionsFor(url, reach, compilePolicy));
  };
  return {
    fetch: async (target, init) => (await (making ??= make())).fetch(target, init),
  };
}
