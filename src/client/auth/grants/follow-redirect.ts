// A sign-in without a user: follows the redirects of an authorization server that asks nothing, by plain requests.
// For tests, conformance runs and machines whose server consents by itself. A real server shows a page instead.
import { fetchThroughProxy } from '../../transports/proxy-fetch.ts';
import { authErrors } from '../errors.ts';
import type { FetchLike } from '../http.ts';
import type { RedirectHook } from './redirect.ts';

// Login, consent, callback and two spare.
const maxHops = 5;

/** Creates a hook that follows redirects until one leads to the redirect URI. */
export function followRedirect(fetchIt: FetchLike = fetchThroughProxy): RedirectHook {
  return async (start, { redirectUri, signal }) => {
    const home = new URL(redirectUri);
    let url = start;
    for (let hop = 0; hop < maxHops; hop++) {
      const response = await fetchIt(url.href, { redirect: 'manual', signal });
      await response.body?.cancel();
      const location = response.headers.get('location');
      if (location === null || !URL.canParse(location, url)) {
        throw authErrors.callbackInvalid(`${url.origin} answered ${response.status} instead of redirecting back`);
      }
      url = new URL(location, url);
      if (url.origin === home.origin && url.pathname === home.pathname) return url;
      if (url.protocol !== 'https:' && url.protocol !== 'http:') break;
    }
    throw authErrors.callbackInvalid('the redirects never led back to the redirect URI');
  };
}
