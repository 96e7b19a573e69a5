// Reads WWW-Authenticate (RFC 9110 §11.6.1) in one pass. The header is untrusted text, so there is no regular expression
// that could backtrack and a cap on its length; what cannot be read is dropped, never guessed.
import { headerOf, type ResponseHeaders } from '../authorizer.ts';

/** One challenge: scheme and parameter names in lower case, values unquoted. */
export interface Challenge {
  readonly scheme: string;
  readonly params: ReadonlyMap<string, string>;
}

/** The combined parameters of the supported schemes. */
export interface ServerChallenge {
  readonly schemes: ReadonlySet<string>;
  readonly error: string | undefined;
  readonly errorDescription: string | undefined;
  readonly scope: readonly string[] | undefined;
  readonly resourceMetadata: string | undefined;
}

// Stops a server from making us walk megabytes of header; real challenges stay far below.
const maxHeaderLength = 16_384;

/** Finds the Bearer and DPoP challenges of a response; the first value of each parameter wins. */
export function readChallenge(headers: ResponseHeaders): ServerChallenge {
  const header = headerOf(headers, 'www-authenticate');
  const known = header === undefined ? [] : parseChallenges(header).filter(isOurs);
  const find = (name: string) => known.map((one) => one.params.get(name)).find((value) => value !== undefined);
  const scope = find('scope');
  return {
    schemes: new Set(known.map((one) => one.scheme)),
    error: find('error'),
    errorDescription: find('error_description'),
    scope: scope === undefined ? undefined : splitScope(scope),
    resourceMetadata: find('resource_metadata'),
  };
}

/** A space-delimited scope list as an array without repetitions. */
export function splitScope(scope: string): string[] {
  return [...new Set(scope.split(' ').filter((part) => part !== ''))];
}

/** All challenges of a header, in order. */
export function parseChallenges(header: string): Challenge[] {
  if (header.length > maxHeaderLength) return [];
  const challenges: { scheme: string; params: Map<string, string> }[] = [];
  let at = 0;

  const skip = (chars: string) => {
    while (at < header.length && chars.includes(header.charAt(at))) at++;
  };
  const token = () => {
    const start = at;
    while (at < header.length && isTokenChar(header.charCodeAt(at))) at++;
    return header.slice(start, at);
  };
  const quoted = () => {
    let text = '';
    for (at++; at < header.length && header[at] !== '"'; at++) {
      if (header[at] === '\\' && at + 1 < header.length) at++;
      text += header[at];
    }
    at++;
    return text;
  };

  while (at < header.length) {
    skip(' \t,');
    const name = token();
    if (name === '') {
      at++; // Not the start of anything we know: step over it.
      continue;
    }
    const afterName = at;
    skip(' \t');
    const current = challenges.at(-1);
    if (header[at] === '=' && current !== undefined) {
      at++;
      skip(' \t');
      const value = header[at] === '"' ? quoted() : token();
      const key = name.toLowerCase();
      if (!current.params.has(key)) current.params.set(key, value);
      continue;
    }
    // A token that is not followed by "=" opens a challenge; a token68 blob behind it holds nothing for us.
    at = afterName;
    challenges.push({ scheme: name.toLowerCase(), params: new Map() });
    skipToken68();
  }
  return challenges;

  function skipToken68(): void {
    const start = at;
    skip(' \t');
    const body = at;
    while (at < header.length && isToken68Char(header.charCodeAt(at))) at++;
    while (header[at] === '=') at++;
    // A token with a value after its "=" is a parameter; only what ends here is a token68.
    const ended = at >= header.length || header[at] === ',';
    if (body === at || !ended) at = start;
  }
}

function isOurs(challenge: Challenge): boolean {
  return challenge.scheme === 'bearer' || challenge.scheme === 'dpop';
}

function isTokenChar(code: number): boolean {
  return isAlphanumeric(code) || "!#$%&'*+-.^_`|~".includes(String.fromCharCode(code));
}

function isToken68Char(code: number): boolean {
  return isAlphanumeric(code) || '-._~+/'.includes(String.fromCharCode(code));
}

function isAlphanumeric(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}
