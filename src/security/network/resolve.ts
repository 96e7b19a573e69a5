// Resolves a URL to the addresses that may be connected to. All addresses are checked, and one denied address denies them
// all: mixing public and private addresses under a name is how DNS rebinding bypasses a check of the first one.

import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { type Address, parseAddress } from '../../common/ip-address.ts';
import { NetworkError, networkErrors } from './errors.ts';
import { type AddressAccess, hostOf, type PolicyCheck } from './policy.ts';

/** Finds the addresses of a name. The signal ends the wait. */
export type Resolver = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/** The system's resolver, hosts file included. */
export const systemResolver: Resolver = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/** The addresses of one request, all of them checked. */
export interface ResolvedTarget {
  readonly addresses: readonly string[];
  /** `allowed` if any of them is allowed only by the policy. */
  readonly passage: AddressAccess;
}

// More addresses than any real name has; each costs a connection attempt.
const maxAnswers = 32;

/** Resolves and checks the host of a URL. */
export async function resolveTarget(
  url: URL,
  policy: PolicyCheck,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<ResolvedTarget> {
  policy.url(url);
  const host = hostOf(url);
  const literal = parseAddress(host);
  if (literal !== undefined) return { addresses: [host], passage: policy.address(url, literal) };
  const answers = (await ask(host, resolver, signal)).slice(0, maxAnswers);
  if (answers.length === 0) throw networkErrors.unresolved(host);
  let passage: AddressAccess = 'public';
  for (const answer of answers) {
    const address: Address | undefined = parseAddress(answer);
    if (address === undefined) throw networkErrors.unresolved(host);
    if (policy.address(url, address) === 'allowed') passage = 'allowed';
  }
  return { addresses: answers, passage };
}

async function ask(host: string, resolver: Resolver, signal: AbortSignal): Promise<readonly string[]> {
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  // The system's resolver cannot be cancelled, so we stop waiting for it instead.
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([resolver(host, signal), aborted]);
  } catch (error) {
    if (signal.aborted || error instanceof NetworkError) throw error;
    throw networkErrors.unresolved(host, error);
  } finally {
    if (stop) signal.removeEventListener('abort', stop);
  }
}

/** A `lookup` for sockets that returns only the checked addresses, so that nothing is resolved a second time. */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const first = answers[0] as { address: string; family: number };
    if (options.all) callback(null, answers);
    else callback(null, first.address, first.family);
  };
}
