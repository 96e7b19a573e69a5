// Which callers share a connection to an upstream, and with it everything that belongs to a connection.

import { type Caller, principalKey as keyOfPrincipal } from '../../engine/ports.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { UpstreamLists } from '../contract.ts';
import type { CallerKeys } from './contract.ts';

export function callerKeys({ principal, session }: Caller): CallerKeys {
  const principalKey = keyOfPrincipal(principal);
  return { principalKey, sessionKey: session?.key ?? principalKey };
}

/** Callers have connections of their own that outlive a call, so that the next call of the same caller uses the same one. */
export function keepsApart({ isolation }: Pick<UpstreamConfig, 'isolation'>): boolean {
  return isolation === 'principal' || isolation === 'session';
}

/** Its requests are authorized as their caller: without one, nothing can be read from it. */
export function actsAsCaller({ auth }: Pick<UpstreamConfig, 'auth'>): boolean {
  return auth.kind === 'token-exchange';
}

/** This caller signs in itself: what its authorization server responds says nothing about other callers. */
export function signsInItself(config: Pick<UpstreamConfig, 'auth' | 'isolation'>, principalKey: string): boolean {
  return config.auth.kind === 'oauth' && keepsApart(config) && principalKey !== '';
}

/** Lists of a server that were read over the connection of one caller, and that others may not see. */
export function isOfOneCaller(config: Pick<UpstreamConfig, 'isolation'>, { cache }: UpstreamLists): boolean {
  return keepsApart(config) && cache?.cacheScope === 'private';
}

/** The key of a caller's connection; empty where no caller has one for longer than a call. */
export function isolationKey(
  { isolation }: Pick<UpstreamConfig, 'isolation'>,
  { principalKey, sessionKey }: CallerKeys,
): string {
  if (isolation === 'principal') return principalKey;
  return isolation === 'session' ? sessionKey : '';
}
