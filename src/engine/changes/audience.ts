// Who is notified of a change. As data an audience can be sent to other processes; a function cannot.

import type { Ability } from '../../protocol/abilities.ts';
import { principalKey } from '../../protocol/callers/principal.ts';
import type { Principal } from '../../protocol/exchange.ts';
import type { Caller } from '../caller.ts';

/**
 * Who is notified of a change: one caller, several callers (`undefined`: those without a principal), or those for which a
 * function returns true. With a bus, a function is only applied to clients of this process; the clients of other processes
 * are not notified.
 */
export type ChangeAudience = Principal | readonly (Principal | undefined)[] | AudienceTest;

/** `session`: undefined for a client without sessions. */
export type AudienceTest = (principal: Principal | undefined, session?: Caller['session']) => boolean;

/** A client that is notified of changes: a session, or a subscription of a client without sessions. */
export interface NotifiedClient extends Caller {
  /** See `Context.can`. */
  can(ability: Ability | 'ui'): boolean;
}

/** The keys of the callers; undefined for a function. */
export function audienceKeys(audience: ChangeAudience): readonly string[] | undefined {
  if (typeof audience === 'function') return undefined;
  return (Array.isArray(audience) ? audience : [audience]).map(principalKey);
}

export function audienceTest(audience: ChangeAudience | undefined): AudienceTest | undefined {
  if (audience === undefined || typeof audience === 'function') return audience;
  return testOfKeys(audienceKeys(audience) as readonly string[]);
}

export function testOfKeys(keys: readonly string[]): AudienceTest {
  const [first] = keys;
  if (keys.length === 1) return (principal) => principalKey(principal) === first;
  const set = new Set(keys);
  return (principal) => set.has(principalKey(principal));
}
