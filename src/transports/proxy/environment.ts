// Which proxy the environment names for a URL, by the rules of curl: http_proxy, https_proxy, all_proxy and no_proxy, in
// lower or upper case. How a connection goes through it is in agent.ts.

import { BlockList, isIP } from 'node:net';

export type Env = Readonly<Record<string, string | undefined>>;

/** The variable that names a proxy for a URL, with its value. */
export interface ProxyVariable {
  readonly name: string;
  readonly value: string;
}

/** A proxy that connections go through. */
export interface HttpProxy {
  /** Without credentials, so that it can be shown. */
  readonly url: URL;
  /** The value of `Proxy-Authorization`. A secret. */
  readonly authorization: string | undefined;
  /** The variable it comes from. */
  readonly variable: string;
}

/** A proxy cannot be used: the environment is wrong, or the proxy rejects. The message contains no credentials. */
export class ProxyError extends Error {
  readonly code: 'ERR_PROXY_CONFIGURATION' | 'ERR_PROXY_CONNECTION';

  constructor(code: ProxyError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ProxyError';
    this.code = code;
  }
}

/** The proxy for a URL; undefined for a direct connection. Throws a `ProxyError` if the variable cannot be used. */
export function findProxy(url: URL, env: Env = process.env): HttpProxy | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const variable = proxyVariable(url, env);
  return variable === undefined ? undefined : toProxy(variable);
}

/** The variable that applies to a URL and is not overruled by NO_PROXY. Lower case wins, as it does in curl. */
export function proxyVariable(url: URL, env: Env): ProxyVariable | undefined {
  const scheme = /^(https|wss):$/.test(url.protocol) ? 'https_proxy' : 'http_proxy';
  for (const name of [scheme, scheme.toUpperCase(), 'all_proxy', 'ALL_PROXY']) {
    const value = env[name];
    if (value === undefined || value === '' || isRequestHeader(name, env)) continue;
    return isExcluded(url, env['no_proxy'] ?? env['NO_PROXY'] ?? '') ? undefined : { name, value };
  }
  return undefined;
}

/** A CGI program has the header `Proxy` of its client in HTTP_PROXY: a client must not choose our proxy (CVE-2016-5385). */
function isRequestHeader(name: string, env: Env): boolean {
  return name === 'HTTP_PROXY' && env['REQUEST_METHOD'] !== undefined;
}

/** Parses the value of a variable: a URL, or `host:port`. Throws a `ProxyError`. */
export function toProxy({ name, value }: ProxyVariable): HttpProxy {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '') {
    throw new ProxyError('ERR_PROXY_CONFIGURATION', `${name} is not a URL; write it as http://host:port, or unset it`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    const message = `${name} names a proxy of type ${url.protocol}//, which is not supported; use http:// or https://`;
    throw new ProxyError('ERR_PROXY_CONFIGURATION', `${message}, or exclude the server with NO_PROXY`);
  }
  const { username, password } = url;
  const hasCredentials = username !== '' || password !== '';
  const credentials = hasCredentials ? `${decode(username)}:${decode(password)}` : undefined;
  return {
    url: new URL(`${url.protocol}//${url.host}`),
    authorization: credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
    variable: name,
  };
}

/** Passwords with a stray `%` are used as they are. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** This machine: a proxy could not reach it, so it is never asked. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/** The rules of curl for NO_PROXY: names with their subdomains, addresses and networks, optionally with a port, or `*`. */
export function isExcluded(url: URL, list: string): boolean {
  const host = withoutBrackets(url.hostname).replace(/\.$/, '').toLowerCase();
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => matches(entry, host, portOf(url)));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  const [, network, bits] = /^(.+)\/(\d+)$/.exec(entry) ?? [];
  if (network !== undefined) return isInNetwork(host, withoutBrackets(network), Number(bits));
  // An IPv6 address has more than one colon, and a port only after brackets.
  const [, name = entry, only] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
  if (only !== undefined && only !== port) return false;
  const pattern = withoutBrackets(name).replace(/^\.|\.$/g, '');
  return pattern !== '' && (host === pattern || (isIP(host) === 0 && host.endsWith(`.${pattern}`)));
}

function isInNetwork(host: string, network: string, bits: number): boolean {
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family || bits > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, bits, type);
  return list.check(host, type);
}

/** The port of a URL, also where it is the default of its scheme. */
export function portOf({ port, protocol }: URL): string {
  if (port !== '') return port;
  return protocol === 'https:' || protocol === 'wss:' ? '443' : '80';
}

/** An IPv6 address as sockets need it. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
