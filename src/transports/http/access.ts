// Access from browsers: checks Host and Origin against lists, and enables CORS for listed origins. Compares whole strings
// only: a name that merely begins or ends like an allowed one is a different string.

import { assertAccessOptions } from './access-options.ts';
import type { HeaderList, HttpRequest } from './exchange.ts';
import type { EndpointOptions, OptionNames } from './options.ts';

/** Allowed values of `Host`. */
export interface HostList {
  /** Complete values, with the port if it is not the default one. */
  readonly values: ReadonlySet<string>;
  /** Names that are allowed with every port, and without one. */
  readonly names: ReadonlySet<string>;
}

export interface HostOriginRules {
  /** Allowed values of `Host`; undefined: any. */
  readonly hosts: HostList | undefined;
  /** The endpoint's own origins. */
  readonly ownOrigins: ReadonlySet<string>;
  /** Other origins whose pages may send requests and read responses. */
  readonly corsOrigins: ReadonlySet<string>;
}

/** Which check a request failed. */
export type AccessDenial = 'host' | 'origin';

/** The longest part of a denied header that is repeated in the response: it can be as long as all headers together. */
const maxShownLength = 200;

/** Why a request is denied, and what allows it. */
export function explainDenial(denial: AccessDenial, request: HttpRequest, names: OptionNames = {}): string {
  const value = JSON.stringify((request.get(denial) ?? '').slice(0, maxShownLength));
  if (denial === 'host') {
    const { allowedHosts = 'the option allowedHosts' } = names;
    return `Forbidden: Host ${value} is not allowed. If it is a name of this server, add it with ${allowedHosts}`;
  }
  const { allowedOrigins = 'the option allowedOrigins' } = names;
  return `Forbidden: Origin ${value} is not allowed. If you trust its pages, add it with ${allowedOrigins}`;
}

const exposed = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate';

export class HostOriginCheck {
  readonly #rules: HostOriginRules;

  constructor(rules: HostOriginRules) {
    this.#rules = rules;
  }

  /** Host comes first: after DNS rebinding, a page sends its own name as Host. */
  check(request: HttpRequest): AccessDenial | undefined {
    const { hosts, ownOrigins, corsOrigins } = this.#rules;
    if (hosts !== undefined) {
      const host = request.get('host') ?? '';
      // Most clients send the name exactly as it is listed; the others cost a second look-up.
      if (!hosts.values.has(host) && !isListed(hosts, lowerCase(host))) return 'host';
    }
    const origin = request.get('origin');
    if (origin === undefined || ownOrigins.has(origin) || corsOrigins.has(origin)) return undefined;
    return 'origin';
  }

  /** The headers that allow a listed origin to read a response; undefined where CORS is off. */
  corsHeaders(request: HttpRequest): HeaderList | undefined {
    const { corsOrigins } = this.#rules;
    if (corsOrigins.size === 0) return undefined;
    const origin = request.get('origin');
    // The response varies with Origin even where none was sent, or a shared cache would mix the two.
    if (origin === undefined || !corsOrigins.has(origin)) return ['Vary', 'Origin'];
    return ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', exposed, 'Vary', 'Origin'];
  }

  /** The response to a preflight request of a listed origin; undefined for anything else. */
  preflight(request: HttpRequest, methods: string): HeaderList | undefined {
    const origin = request.get('origin');
    if (origin === undefined || !this.#rules.corsOrigins.has(origin)) return undefined;
    const requested = request.get('access-control-request-headers') ?? '';
    // Header names that are known only at run time (Mcp-Param-…) must be allowed too, so all requested ones are.
    const allowed = /^[!#$%&'*+.^_`|~0-9A-Za-z, -]*$/.test(requested) ? requested : '';
    return [
      'Access-Control-Allow-Methods',
      methods,
      'Access-Control-Allow-Headers',
      allowed,
      'Access-Control-Max-Age',
      '600',
    ];
  }
}

/** The rules of an endpoint in an application that listens by itself: only what is configured is known. */
export function rulesFrom(options: EndpointOptions): HostOriginRules {
  assertAccessOptions(options);
  const { publicUrl, allowedHosts = [], allowedOrigins = [] } = options;
  const outside = publicUrl === undefined ? undefined : new URL(publicUrl);
  return {
    hosts: allowedHosts.length === 0 && outside === undefined ? undefined : hostsFrom(allowedHosts, outside?.host),
    ownOrigins: new Set(outside === undefined ? [] : [outside.origin]),
    corsOrigins: new Set(allowedOrigins),
  };
}

/** True for the loopback names and addresses of this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Where a server listens. */
export interface ListeningAddress {
  readonly host: string;
  readonly port: number;
  readonly scheme: 'http' | 'https';
}

/** The URL of a path of a server that listens there. */
export function listeningUrl({ host, port, scheme }: ListeningAddress, path: string): string {
  return `${scheme}://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}${path}`;
}

const defaultPorts = { http: '80', https: '443' } as const;

/** The allowed values of `Host` for a server bound to `host`: loopback names with its port, and what was configured. */
export function hostsOf(
  { host, port, scheme }: ListeningAddress,
  configured: readonly string[] = [],
  publicHost?: string,
): HostList | undefined {
  if (configured.length === 0 && publicHost === undefined && !isLoopback(host)) return undefined;
  const names = isLoopback(host) ? loopbackNames(host) : [];
  const own = names.flatMap((name) => withDefaultPort(`${name}:${port}`, [defaultPorts[scheme]]));
  const { values, names: anyPort } = hostsFrom(configured, publicHost);
  return { values: new Set([...own, ...values]), names: anyPort };
}

/** Listed hosts: with a port, exactly that one; without, every port. The host of the public URL has only its own port. */
export function hostsFrom(listed: readonly string[], publicHost?: string): HostList {
  const lower = listed.map(lowerCase);
  const exact = lower.filter((each) => hostAndPort.test(each));
  if (publicHost !== undefined) exact.push(publicHost);
  return {
    values: new Set(exact.flatMap((each) => withDefaultPort(each, ['80', '443']))),
    names: new Set(lower.filter((each) => !hostAndPort.test(each))),
  };
}

const hostAndPort = /^([^:[\]]+|\[[^[\]]+\]):(\d{1,5})$/;

function isListed({ values, names }: HostList, host: string): boolean {
  if (values.has(host)) return true;
  return names.size > 0 && names.has(hostAndPort.exec(host)?.[1] ?? host);
}

/** A host with a default port equals the host without it. Which port is the default depends on the public scheme. */
function withDefaultPort(host: string, defaults: readonly string[]): string[] {
  const [, name = host, port] = hostAndPort.exec(host) ?? [];
  if (port === undefined) return [host, ...defaults.map((each) => `${host}:${each}`)];
  return defaults.includes(port) ? [host, name] : [host];
}

/** Host names are case-insensitive in ASCII only: folding other letters would make look-alikes equal. */
function lowerCase(host: string): string {
  return host.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The origins of pages of this server itself; never derived from `Host`, which an attacker can choose. */
export function originsOf({ host, port, scheme }: ListeningAddress): Set<string> {
  if (!isLoopback(host)) return new Set();
  const suffix = String(port) === defaultPorts[scheme] ? '' : `:${port}`;
  return new Set(loopbackNames(host).map((name) => `${scheme}://${name}${suffix}`));
}

function loopbackNames(host: string): string[] {
  return ['localhost', '127.0.0.1', '[::1]', host.includes(':') && !host.startsWith('[') ? `[${host}]` : host];
}
