// For servers that want a fixed token instead of OAuth: sends it to that server's origin and nowhere else.
import type { Authorizer } from './authorizer.ts';
import { createUrlGuard, overHttp, type UrlGuardOptions } from './discovery/url-guard.ts';
import { assertAuthOptions } from './known-options.ts';

/** Creates an authorizer for a token that the application manages; a function is called for every request. */
export function createStaticAuthorizer(
  options: UrlGuardOptions & {
    readonly server: string | URL;
    readonly token: string | (() => string | Promise<string>);
  },
): Authorizer {
  const { token: given } = options ?? {};
  if ((typeof given !== 'string' && typeof given !== 'function') || given === '') {
    throw new TypeError(
      "createStaticAuthorizer needs a server and a token: createStaticAuthorizer({ server: 'https://mcp.example.com/mcp', token })",
    );
  }
  assertAuthOptions('createStaticAuthorizer', options);
  const { server } = createUrlGuard(options.server, options);
  const { token } = options;
  const toHeaders = (value: string) => ({ authorization: `Bearer ${value}` });
  const fixed = typeof token === 'string' ? toHeaders(token) : undefined;
  return {
    headers(url) {
      if (new URL(overHttp(url)).origin !== server.origin) return {};
      return fixed ?? Promise.resolve((token as () => string | Promise<string>)()).then(toHeaders);
    },
    // There is nothing to refresh; the response says what is wrong.
    challenge: async () => 'fail',
  };
}
