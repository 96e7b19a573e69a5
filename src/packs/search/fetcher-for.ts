// The reach of a fetcher that talks to one service: its host and nothing else.

import type { FetcherOptions } from '../../security/network/fetcher.ts';

/** Some services turn away clients without a familiar word in front; the rest says honestly who asks. */
const userAgent = 'Mozilla/5.0 (compatible; mooring)';

/**
 * Options for the service at `url`. A private address is reached only because the operator wrote it down, and only at
 * that port; redirects stay on the host.
 */
export function fetcherFor(url: URL): FetcherOptions {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return { hosts: [url.hostname], allow: [`${url.hostname}:${port}`], userAgent };
}
