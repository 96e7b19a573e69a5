// The reach of a fetcher that talks to one service: its host and nothing else.

import type { Fetcher, FetcherOptions, NetworkPolicy } from '../../security/network/fetcher.ts';
import type { compilePolicy } from '../../security/network/policy.ts';

/** Some services turn away clients without a familiar word in front; the rest says honestly who asks. */
const userAgent = 'Mozilla/5.0 (compatible; mooring)';

/** How far a service may be reached. */
export interface Reach {
  /** The operator wrote the URL himself: then its address may be a private one. */
  readonly given: boolean;
  /** The bounds of a policy, which win. */
  readonly network?: NetworkPolicy | undefined;
}

/**
 * Options for the service at `url`; redirects stay on its host. A private address is reached only where the operator
 * wrote the URL, and only at that port: a public name must not come to mean something inside. Where a policy speaks of
 * the network, its word alone opens private addresses, and a service outside its bounds is refused here.
 */
function optionsFor(url: URL, { given, network }: Reach, compile: typeof compilePolicy): FetcherOptions {
  const own = { hosts: [url.hostname], userAgent };
  if (network !== undefined) {
    compile(network).url(url);
    const { hosts: _checked, ...bounds } = network;
    return { ...bounds, ...own };
  }
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return { ...own, ...(given ? { allow: [`${url.hostname}:${port}`] } : {}) };
}

/**
 * The fetcher of a service, made with the first request: what a policy refuses is an error of that request, and a start
 * loads nothing that speaks HTTP.
 */
export function fetcherFor(url: URL, reach: Reach): Fetcher {
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
