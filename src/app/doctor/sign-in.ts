// Finds out which sign-in is required by a server that responds with 401.

import { parseJson } from '../../common/parse-json.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Report } from './findings.ts';
import { type ProbeResult, probe } from './probe.ts';

/** Explains a 401 by its WWW-Authenticate header and the OAuth metadata of the server. */
export async function explainSignIn(
  url: URL,
  reply: ProbeResult & { ok: true },
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<Report> {
  const challenge = reply.header('www-authenticate').slice(0, 2_000);
  const given = Object.keys(headers).some((name) => /^(authorization|x-api-key|api-key)$/i.test(name));
  const issuers = await authorizationServers(url, challenge, timeoutMs);
  const [wants, remedy] = wanted(url, challenge, issuers);
  if (given) {
    const why =
      /error_description="([^"]{1,200})"/.exec(challenge)?.[1] ?? /\berror="([^"]{1,100})"/.exec(challenge)?.[1];
    return {
      id: 'token-rejected',
      detail: `${url.host} rejects the credentials (HTTP ${reply.status}${why === undefined ? '' : `, ${why}`}). It wants ${wants}`,
      remedy: `Get a new token. ${remedy}`,
    };
  }
  return { id: 'sign-in-required', detail: `${url.host} wants ${wants} (HTTP ${reply.status})`, remedy };
}

function wanted(url: URL, challenge: string, issuers: readonly string[]): readonly [string, string] {
  if (issuers.length > 0) {
    return [
      `an OAuth sign-in at ${issuers.join(' or ')}`,
      `Sign in: "mooring ping ${url.href}" in a terminal opens the browser. Other clients offer it when they connect.`,
    ];
  }
  if (/^\s*basic\b/i.test(challenge)) {
    return ['a user name and password (Basic)', "Pass them: --header 'Authorization: Basic …'."];
  }
  const token = 'Pass it with --token TOKEN, and in a configuration as "headers": { "Authorization": "Bearer …" }.';
  if (/\bbearer\b/i.test(challenge)) return ['a bearer token', token];
  return ['credentials, and does not say which', `Look them up in its documentation. A bearer token: ${token}`];
}

/** From the protected resource metadata (RFC 9728), at the address in the challenge or at the usual ones. */
async function authorizationServers(url: URL, challenge: string, timeoutMs: number): Promise<string[]> {
  const named = /resource_metadata="([^"]+)"/i.exec(challenge)?.[1];
  const wellKnown = '/.well-known/oauth-protected-resource';
  const places = [named, `${wellKnown}${url.pathname === '/' ? '' : url.pathname}`, wellKnown];
  for (const place of places) {
    if (place === undefined || !URL.canParse(place, url.href)) continue;
    const where = new URL(place, url);
    // Only the server itself is asked: the address comes from it.
    if (where.origin !== url.origin) continue;
    const reply = await probe('GET', where, { Accept: 'application/json' }, Math.min(timeoutMs, 5_000));
    if (!reply.ok || reply.status !== 200) continue;
    const metadata = parseJson(reply.body);
    const found = isObject(metadata) ? metadata['authorization_servers'] : undefined;
    if (Array.isArray(found)) return found.filter((each) => typeof each === 'string').slice(0, 3);
  }
  return [];
}
