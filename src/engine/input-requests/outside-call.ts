// Input requests that belong to no call, on handshake revisions.

import { declares } from '../../protocol/abilities.ts';
import type { Session } from '../channels/session.ts';
import type { InputRequest } from './input-request.ts';
import { InputRequestError } from './input-request-error.ts';
import { abilityOf, encodeInputRequest, inputRequestMethods } from './input-requester.ts';
import { decodeResponse } from './responses.ts';

/** Rejects with an `InputRequestError`. */
export async function requestOutsideCall(
  { codec, capabilities }: Session,
  request: InputRequest,
  send: (method: string, params: object) => Promise<unknown>,
): Promise<unknown> {
  const ability = abilityOf(request);
  if (codec.inputRequests !== 'push' || !codec.supports(ability)) {
    throw new InputRequestError('unsupported', `${ability} does not exist in revision ${codec.date}`);
  }
  if (!declares(capabilities, ability)) {
    throw new InputRequestError('missing-capability', `The client did not declare ${ability}`, [ability]);
  }
  const params = encodeInputRequest({ codec, capabilities }, request, crypto.randomUUID());
  const decoded = await decodeResponse(request, await send(inputRequestMethods[request.kind], params));
  if (decoded.state === 'ok') return decoded.value;
  throw new InputRequestError('invalid-response', `The client sent an invalid response: ${decoded.reason}`);
}
