// How a handler's questions reach the client: the contract, and what both ways share.

import { type Ability, declares } from '../../protocol/abilities.ts';
import { spellForm, spellSampling, spellUrl } from '../../protocol/revisions/inputs.ts';
import type { Call } from '../call.ts';
import type { Ask } from './ask.ts';
import { AskError } from './ask-error.ts';

export type KeyedAsk = readonly [key: string | undefined, ask: Ask];

export interface Asker {
  /** Puts the questions in one round; answers come in the same order. */
  ask(asks: readonly KeyedAsk[]): Promise<unknown[]>;
  /** The answers there are already, in the same order; undefined unless all of them are there. */
  answersTo(asks: readonly (readonly [key: string, ask: Ask])[]): Promise<unknown[] | undefined>;
  step(key: string, run: () => unknown, once: boolean): Promise<unknown>;
  /** The handler runs again from the top, within the same call: what it learned so far is not asked again. */
  restart(): void;
  /** The call is over: open questions are withdrawn. */
  abandon(reason: Error): void;
}

export function abilityOf(ask: Ask): Ability {
  switch (ask.kind) {
    case 'elicit':
      return 'elicitation.form';
    case 'elicitUrl':
      return 'elicitation.url';
    case 'sample':
      return ask.params.tools === undefined && ask.params.toolChoice === undefined ? 'sampling' : 'sampling.tools';
    case 'roots':
      return 'roots';
  }
}

export const askMethods = {
  elicit: 'elicitation/create',
  elicitUrl: 'elicitation/create',
  sample: 'sampling/createMessage',
  roots: 'roots/list',
} as const satisfies Record<Ask['kind'], string>;

/**
 * The questions of a round that can be put; optional ones the client can not answer are left out. Throws when a
 * mandatory one can not, naming everything that is missing at once.
 */
export function askable(call: Call, asks: readonly KeyedAsk[]): readonly boolean[] {
  const { revision } = call;
  const missing: Ability[] = [];
  const open = asks.map(([, ask]) => {
    const ability = abilityOf(ask);
    if (!revision.knows(ability)) {
      if (ask.optional !== true)
        throw new AskError('unsupported', `${ability} does not exist in revision ${revision.date}`);
      return false;
    }
    if (declares(call.capabilities, ability)) return true;
    if (ask.optional !== true) missing.push(ability);
    return false;
  });
  if (missing.length > 0) {
    throw new AskError('missing-capability', `The client did not declare ${missing.join(', ')}`, missing);
  }
  return open;
}

/** A question that is left out where the client can not answer it, and this one can not. */
export function leftOut(call: Call, ask: Ask): boolean {
  const ability = abilityOf(ask);
  return ask.optional === true && !(call.revision.knows(ability) && declares(call.capabilities, ability));
}

/** The params of a question as the revision spells them. */
export function spellAsk(call: Call, ask: Ask, elicitationId: string): { readonly [key: string]: unknown } {
  const { spelling } = call.revision;
  if (ask.kind === 'roots') return {};
  const spelled =
    ask.kind === 'elicit'
      ? spellForm(ask.message, ask.schema.json, spelling)
      : ask.kind === 'elicitUrl'
        ? spellUrl(ask.message, ask.url, elicitationId, spelling)
        : spellSampling(ask.params, spelling, call.capabilities);
  if (!spelled.ok) throw new AskError('unsupported', spelled.reason);
  return spelled.params;
}
