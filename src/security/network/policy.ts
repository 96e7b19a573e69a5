// Where outgoing requests may go. Compiles the operator's lists once and checks URLs, names and addresses. Does not use
// the network.

import { type Address, type Cidr, contains, parseAddress, parseCidr } from '../../common/ip-address.ts';
import { networkErrors } from './errors.ts';
import { type AddressClass, classify } from './ranges.ts';

/**
 * Where a fetcher may go. Public addresses are allowed, all others are denied. Give each purpose its own fetcher: one
 * that may use a search engine on this machine should not be the one that opens untrusted pages.
 */
export interface NetworkPolicy {
  /**
   * Targets that are allowed although they are not public: `10.1.0.0/16`, `127.0.0.1:8080`, `[::1]:8080`,
   * `searx.internal`, `localhost:8888`. A metadata address is allowed only by its own full address.
   */
  readonly allow?: readonly string[];
  /** Blocks, addresses and names (`example.org`, `*.example.org`) that are always denied. Overrides everything else. */
  readonly deny?: readonly string[];
  /** If given, only these names: `example.org`, `*.example.org`. */
  readonly hosts?: readonly string[];
  /** If given, only these ports. */
  readonly ports?: readonly number[];
  /** Deny plain HTTP. */
  readonly httpsOnly?: boolean;
}

interface AddressRule {
  readonly block: Cidr;
  readonly port?: number;
}

interface HostRule {
  readonly name: string;
  readonly port?: number;
  /** `*.name`: anything below the name, not the name itself. */
  readonly below: boolean;
}

/** Why a checked address is allowed. */
export type AddressAccess = 'public' | 'allowed';

/** A compiled policy. */
export interface PolicyCheck {
  /** Throws unless the URL is allowed, as far as can be decided before names are resolved. */
  url(url: URL): void;
  /** Throws unless the address is allowed for this URL. */
  address(url: URL, address: Address): AddressAccess;
}

/** The host of a URL in the form that rules compare: no brackets, no final dot. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');

/** The port of a URL. */
export const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80));

/** Compiles a policy; throws `NETWORK_BAD_POLICY` for an invalid rule. */
export function compilePolicy(policy: NetworkPolicy): PolicyCheck {
  const allow = compileRules(policy.allow ?? []);
  const deny = compileRules(policy.deny ?? []);
  const only = policy.hosts === undefined ? undefined : policy.hosts.map(parseHostRule);

  return {
    url(url) {
      const host = hostOf(url);
      const port = portOf(url);
      if (url.protocol !== 'https:' && (url.protocol !== 'http:' || policy.httpsOnly)) {
        throw networkErrors.forbidden(
          host === '' ? url.href : host,
          `${url.protocol.slice(0, -1)} is not an allowed scheme`,
        );
      }
      if (url.username !== '' || url.password !== '')
        throw networkErrors.forbidden(host, 'the URL contains credentials');
      if (host === '') throw networkErrors.forbidden(url.href, 'the URL has no host');
      if (policy.ports !== undefined && !policy.ports.includes(port)) {
        throw networkErrors.forbidden(host, `port ${port} is not on the list of allowed ports`);
      }
      if (only !== undefined && !only.some((rule) => hostMatches(rule, host, port))) {
        throw networkErrors.forbidden(host, 'the host is not on the list of allowed hosts');
      }
      if (deny.hosts.some((rule) => hostMatches(rule, host, port)))
        throw networkErrors.forbidden(host, 'the host is denied');
    },

    address(url, address) {
      const host = hostOf(url);
      const port = portOf(url);
      const found = classify(address);
      if (deny.blocks.some((rule) => blockMatches(rule, equivalentAddresses(found), port))) {
        throw networkErrors.forbidden(host, 'its address is denied');
      }
      if (found.kind === 'public') return 'public';
      const reached = found.mapped ? equivalentAddresses(found) : [address];
      const named = allow.blocks.some(
        (rule) => blockMatches(rule, reached, port) && (found.kind !== 'metadata' || isSingle(rule.block)),
      );
      if (named) return 'allowed';
      // A name is allowed with any address it resolves to, except cloud metadata addresses.
      if (found.kind !== 'metadata' && allow.hosts.some((rule) => hostMatches(rule, host, port))) return 'allowed';
      throw networkErrors.forbidden(host, `${found.kind} addresses are not allowed`);
    },
  };
}

/** The address and, for deny rules, the IPv4 address that it may lead to. */
const equivalentAddresses = (found: AddressClass): readonly Address[] =>
  found.embedded === undefined ? [found.address] : [found.address, found.embedded];

const isSingle = (block: Cidr): boolean => block.bits === block.bytes.length * 8;

const blockMatches = (rule: AddressRule, addresses: readonly Address[], port: number): boolean =>
  (rule.port === undefined || rule.port === port) && addresses.some((address) => contains(rule.block, address));

const hostMatches = (rule: HostRule, host: string, port: number): boolean =>
  (rule.port === undefined || rule.port === port) && (rule.below ? host.endsWith(`.${rule.name}`) : host === rule.name);

function compileRules(texts: readonly string[]): { blocks: AddressRule[]; hosts: HostRule[] } {
  const blocks: AddressRule[] = [];
  const hosts: HostRule[] = [];
  for (const text of texts) {
    const rule = parseAddressRule(text);
    if (rule === undefined) hosts.push(parseHostRule(text));
    else blocks.push(rule);
  }
  return { blocks, hosts };
}

function parseAddressRule(text: string): AddressRule | undefined {
  const whole = parseCidr(text);
  if (whole !== undefined) return { block: whole };
  const withPort = /^(\[[^\]]+\]|[\d.]+):(\d{1,5})$/.exec(text);
  const address = withPort && parseAddress(withPort[1] as string);
  if (!withPort || !address) return undefined;
  return { block: { ...address, bits: address.bytes.length * 8 }, port: parsePort(withPort[2] as string, text) };
}

function parseHostRule(text: string): HostRule {
  const parts = /^(\*\.)?(\[[^\]]+\]|[^/:@?#\s*[\]]+?)\.?(?::(\d{1,5}))?$/.exec(text);
  if (parts === null) throw networkErrors.badPolicy(text);
  let name: string;
  try {
    // The URL parser returns names in the form of requests: lower case, punycode.
    name = hostOf(new URL(`http://${parts[2]}/`));
  } catch {
    throw networkErrors.badPolicy(text);
  }
  return { name, below: parts[1] !== undefined, port: parts[3] === undefined ? undefined : parsePort(parts[3], text) };
}

function parsePort(digits: string, text: string): number {
  const port = Number(digits);
  if (port < 1 || port > 65535) throw networkErrors.badPolicy(text);
  return port;
}
