// How a user gets to the authorization server, and the response back to us: the interface, and an implementation in which
// the application does both. The usual one, a browser and a listener on loopback, is in loopback.ts.

import { isLoopback } from '../discovery/url-guard.ts';
import { authErrors } from '../errors.ts';

/** One round trip through the authorization server. */
export interface SignInVisit {
  /** The address for the browser of the user. */
  readonly url: URL;
  /** Ends the wait for the user. */
  readonly signal: AbortSignal;
  /** Throws when an authorization response is not the one expected; `state-mismatch` means: not ours, keep waiting. */
  validate(parameters: URLSearchParams): void;
}

/** A redirect URI that is ready to receive a response. */
export interface RedirectListener {
  /** Where the authorization server sends the user back to. */
  readonly redirectUri: string;
  /** Sends the user to the authorization server and resolves with a response that `validate` accepted. */
  visit(visit: SignInVisit): Promise<URLSearchParams>;
  /** Stops listening. */
  close(): Promise<void>;
}

/** Prepares the redirect URI before registration, which must name it. */
export interface Redirector {
  /** `preferred` is the URI of an earlier registration; taking it again keeps that registration usable. */
  prepare(options: { readonly preferred?: string; readonly signal?: AbortSignal }): Promise<RedirectListener>;
}

/** Sends the user to `url` and returns the callback: the full URL, its query, or the parameters. */
export type RedirectHook = (
  url: URL,
  context: { readonly redirectUri: string; readonly signal: AbortSignal },
) => Promise<string | URL | URLSearchParams>;

/** A redirector for applications that receive the callback themselves (a web server, an app link, a test). */
export function createHookRedirector(redirectUri: string, hook: RedirectHook): Redirector {
  checkRedirectUri(redirectUri);
  const stop: RedirectListener = {
    redirectUri,
    async visit({ url, signal, validate }) {
      const parameters = toParameters(await hook(url, { redirectUri, signal }));
      validate(parameters);
      return parameters;
    },
    close: async () => {},
  };
  return { prepare: async () => stop };
}

/** Redirect URIs are https or on this machine (specification, "Communication Security"). */
function checkRedirectUri(redirectUri: string): URL {
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === undefined || !safe || url.hash !== '') {
    throw authErrors.configuration(`redirect URI ${redirectUri} must be https, or http on loopback, without fragment`);
  }
  return url;
}

/** OpenID registration distinguishes what runs on a user's machine from what runs on a server. */
export function applicationType(redirectUri: string): 'native' | 'web' {
  return isLoopback(new URL(redirectUri).hostname) ? 'native' : 'web';
}

function toParameters(answer: string | URL | URLSearchParams): URLSearchParams {
  if (answer instanceof URLSearchParams) return answer;
  if (answer instanceof URL) return answer.searchParams;
  return URL.canParse(answer) ? new URL(answer).searchParams : new URLSearchParams(answer);
}
