// Who may reach the endpoint from a browser: Host and Origin against lists, and CORS for origins that were named.
// Compares whole strings only: a look-alike that begins or ends like an allowed name is a different string.

import type { HeaderList, HttpRequest } from './exchange.ts';

export interface HostOriginRules {
  /** Values of `Host` that are let in; undefined: any. */
  readonly hosts: ReadonlySet<string> | undefined;
  /** The endpoint's own origins. */
  readonly ownOrigins: ReadonlySet<string>;
  /** Foreign origins that may call and read. */
  readonly corsOrigins: ReadonlySet<string>;
}

/** Why a request is kept out. */
export type AccessDenial = 'host' | 'origin';

const exposed = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate';

export class HostOriginCheck {
  readonly #rules: HostOriginRules;

  constructor(rules: HostOriginRules) {
    this.#rules = rules;
  }

  /** Host first: a page that has rebound its name to this address sends its own name there. */
  check(request: HttpRequest): AccessDenial | undefined {
    const { hosts, ownOrigins, corsOrigins } = this.#rules;
    if (hosts !== undefined) {
      const host = request.get('host') ?? '';
      // Clients send the name as it stands in the list; only one that does not pays for the second look.
      if (!hosts.has(host) && !hosts.has(lowerCase(host))) return 'host';
    }
    const origin = request.get('origin');
    if (origin === undefined || ownOrigins.has(origin) || corsOrigins.has(origin)) return undefined;
    return 'origin';
  }

  /** What lets a listed origin read an answer; undefined for everybody else. */
  corsHeaders(request: HttpRequest): HeaderList | undefined {
    const { corsOrigins } = this.#rules;
    if (corsOrigins.size === 0) return undefined;
    const origin = request.get('origin');
    // The answer depends on Origin even where there was none, or a shared cache would mix the two.
    if (origin === undefined || !corsOrigins.has(origin)) return ['Vary', 'Origin'];
    return ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', exposed, 'Vary', 'Origin'];
  }

  /** The answer to a preflight of a listed origin; undefined when it is none. */
  preflight(request: HttpRequest, methods: string): HeaderList | undefined {
    const origin = request.get('origin');
    if (origin === undefined || !this.#rules.corsOrigins.has(origin)) return undefined;
    const asked = request.get('access-control-request-headers') ?? '';
    // Names only known at run time (Mcp-Param-…) must pass too, so what was asked for is granted.
    const allowed = /^[!#$%&'*+.^_`|~0-9A-Za-z, -]*$/.test(asked) ? asked : '';
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

/** Origins as a browser spells them. Anything else would never match, or match too much. */
export function originsFrom(listed: readonly string[] = []): Set<string> {
  for (const each of listed) {
    if (!URL.canParse(each) || new URL(each).origin !== each) {
      throw new TypeError(
        `${JSON.stringify(each)} is no origin; write scheme, host and port alone: "https://app.example"`,
      );
    }
  }
  return new Set(listed);
}

/** True for the names and addresses of this machine itself. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** What `Host` may say at a server bound to `host`: loopback names with the own port, and what was configured. */
export function hostsOf(
  host: string,
  port: number,
  configured: readonly string[] | undefined,
): Set<string> | undefined {
  if (configured === undefined && !isLoopback(host)) return undefined;
  const names = isLoopback(host) ? loopbackNames(host) : [];
  const own = names.flatMap((name) => withDefaultPort(`${name}:${port}`, ['80']));
  return new Set([...own, ...hostsFrom(configured ?? [])]);
}

/** Hosts as they may be spelled. */
export function hostsFrom(listed: readonly string[]): Set<string> {
  return new Set(listed.flatMap((each) => withDefaultPort(lowerCase(each), ['80', '443'])));
}

/** A host with a default port is the same one without. Which port is the default is up to the scheme outside. */
function withDefaultPort(host: string, defaults: readonly string[]): string[] {
  const [, name = host, port] = /^(.*?[^:]):(\d+)$/.exec(host) ?? [];
  if (port === undefined) return [host, ...defaults.map((each) => `${host}:${each}`)];
  return defaults.includes(port) ? [host, name] : [host];
}

/** Names of hosts know no case, in ASCII: other letters that fold into it would make look-alikes equal. */
function lowerCase(host: string): string {
  return host.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The origins of pages this very server would serve; never derived from `Host`, which an attacker chooses. */
export function originsOf(host: string, port: number): Set<string> {
  if (!isLoopback(host)) return new Set();
  return new Set(loopbackNames(host).map((name) => `http://${name}${port === 80 ? '' : `:${port}`}`));
}

function loopbackNames(host: string): string[] {
  return ['localhost', '127.0.0.1', '[::1]', host.includes(':') && !host.startsWith('[') ? `[${host}]` : host];
}
