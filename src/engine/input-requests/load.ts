// The light end of asking: what every call may need to know. The askers themselves are loaded with the first question.

import { methodRow } from '../../protocol/methods.ts';
import type { Call, InputRequester } from '../contract.ts';
import { InputRequestError } from './input-request-error.ts';

/** The asker of a call: by requests of ours, or by asking for a retry. Throws where the protocol lets nobody ask. */
export async function inputRequesterOf(call: Call): Promise<InputRequester> {
  if (methodRow(call.method)?.requestsInput !== true) {
    throw new InputRequestError(
      'not-allowed-here',
      `${call.method} can not ask the client; only tools, prompts and resource reads can`,
    );
  }
  if (call.codec.inputRequests === 'push') {
    const { PushInputRequester } = await import('./push.ts');
    return (call.inputRequester ??= new PushInputRequester(call));
  }
  const { RetryInputRequester } = await import('./retry.ts');
  return (call.inputRequester ??= new RetryInputRequester(call));
}

/** Reads what an earlier round left behind, before the handler runs. Undefined when this is a first round. */
export function resumeFromState(call: Call, singleUse = false): Promise<void> | undefined {
  const { requestState, inputResponses } = call.params;
  if (call.codec.inputRequests !== 'retry' || (requestState === undefined && inputResponses === undefined))
    return undefined;
  return import('./retry.ts').then(({ RetryInputRequester }) => {
    const asker = new RetryInputRequester(call);
    call.inputRequester = asker;
    return asker.resume(singleUse);
  });
}
