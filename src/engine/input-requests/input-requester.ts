// How a handler's questions reach the client: the contract, and what both ways share.

import { type Ability, declares } from '../../protocol/abilities.ts';
import { encodeForm, encodeSampling, encodeUrl } from '../../protocol/revisions/input-requests.ts';
import type { Call, KeyedInputRequest } from '../contract.ts';
import type { InputRequest } from './input-request.ts';
import { InputRequestError } from './input-request-error.ts';

export function abilityOf(ask: InputRequest): Ability {
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

export const inputRequestMethods = {
  elicit: 'elicitation/create',
  elicitUrl: 'elicitation/create',
  sample: 'sampling/createMessage',
  roots: 'roots/list',
} as const satisfies Record<InputRequest['kind'], string>;

/**
 * The questions of a round that can be put; optional ones the client can not answer are left out. Throws when a
 * mandatory one can not, naming everything that is missing at once.
 */
export function supportedRequests(call: Call, asks: readonly KeyedInputRequest[]): readonly boolean[] {
  const { codec } = call;
  const missing: Ability[] = [];
  const open = asks.map(([, ask]) => {
    const ability = abilityOf(ask);
    if (!codec.supports(ability)) {
      if (ask.optional !== true)
        throw new InputRequestError('unsupported', `${ability} does not exist in revision ${codec.date}`);
      return false;
    }
    if (declares(call.capabilities, ability)) return true;
    if (ask.optional !== true) missing.push(ability);
    return false;
  });
  if (missing.length > 0) {
    throw new InputRequestError('missing-capability', `The client did not declare ${missing.join(', ')}`, missing);
  }
  return open;
}

/** A question that is left out where the client can not answer it, and this one can not. */
export function isSkipped(call: Call, ask: InputRequest): boolean {
  const ability = abilityOf(ask);
  return ask.optional === true && !(call.codec.supports(ability) && declares(call.capabilities, ability));
}

/** The params of a question as the revision spells them. */
export function encodeInputRequest(
  call: Call,
  ask: InputRequest,
  elicitationId: string,
): { readonly [key: string]: unknown } {
  const { dialect } = call.codec;
  if (ask.kind === 'roots') return {};
  const spelled =
    ask.kind === 'elicit'
      ? encodeForm(ask.message, ask.schema.json, dialect)
      : ask.kind === 'elicitUrl'
        ? encodeUrl(ask.message, ask.url, elicitationId, dialect)
        : encodeSampling(ask.params, dialect, call.capabilities);
  if (!spelled.ok) throw new InputRequestError('unsupported', spelled.reason);
  return spelled.params;
}
