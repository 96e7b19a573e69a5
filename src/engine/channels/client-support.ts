// What a client can be asked for: what it has declared, as far as its revision has it.

import { type Ability, declares } from '../../protocol/abilities.ts';
import { showsApps } from '../../protocol/apps.ts';
import type { Capabilities } from '../../protocol/model.ts';
import type { Codec } from '../../protocol/revisions/index.ts';

/** The client of a call or a session. */
export interface DeclaringClient {
  readonly codec: Codec;
  readonly capabilities: Capabilities;
}

/** Whether the client has an ability. It may not be reachable now: see `Context.can`. */
export function supports({ codec, capabilities }: DeclaringClient, ability: Ability | 'ui'): boolean {
  return ability === 'ui' ? showsApps(capabilities) : codec.supports(ability) && declares(capabilities, ability);
}
