// The reach of a fetcher that talks to one service: its host and nothing else.

import type { FetcherOptions } from '../../security/network/fetcher.ts';

/** Some services turn away clients without a familiar word in front; the rest says honestly who asks. */
const userAgent = 'Mozilla/5.0 (compatible; mooring)';

/**
 * Options for the service at `url`; redirects stay on its host. A private address is reached only where the operator
 * wrote the URL himself (`given`), and only at that port: a public name must not come to mean something inside.
 */
export function fetcherFor(url: URL, given: boolean): FetcherOptions {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return { hosts: [url.hostname], userAgent, ...(given ? { allow: [`${url.hostname}:${port}`] } : {}) };
}
