// Picks and loads what sends the input requests of a call. push.ts and retry.ts are loaded with the first input request.

import { methodRow } from '../../protocol/methods.ts';
import type { Call, InputRequester } from '../contract.ts';
import type { InputRequest } from './input-request.ts';
import { InputRequestError } from './input-request-error.ts';

/**
 * The input requester of a call, created on first use. Throws for methods that may not send input requests. `requests`: what
 * is about to be sent.
 */
export async function inputRequesterOf(call: Call, requests?: readonly InputRequest[]): Promise<InputRequester> {
  if (methodRow(call.method)?.requestsInput !== true) {
    throw new InputRequestError(
      'not-allowed-here',
      `${call.method} cannot send input requests; only tools, prompts and resource reads can`,
    );
  }
  if (requests !== undefined) await call.task?.prepareInput?.(requests);
  if (call.codec.inputRequests === 'push') {
    const { PushInputRequester } = await import('./push.ts');
    return (call.inputRequester ??= new PushInputRequester(call));
  }
  const { RetryInputRequester } = await import('./retry.ts');
  return (call.inputRequester ??= new RetryInputRequester(call));
}

/** Restores responses and steps of earlier runs, before the handler runs. Undefined if this is the first run. */
export function resumeFromState(call: Call, singleUse = false): Promise<void> | undefined {
  const { requestState, inputResponses } = call.params;
  if (call.codec.inputRequests !== 'retry' || (requestState === undefined && inputResponses === undefined))
    return undefined;
  return import('./retry.ts').then(({ RetryInputRequester }) => {
    const requester = new RetryInputRequester(call);
    call.inputRequester = requester;
    return requester.resume(singleUse);
  });
}
