// The light end of asking: what every call may need to know. The askers themselves are loaded with the first question.

import { methodRow } from '../../protocol/methods.ts';
import type { Call } from '../call.ts';
import { AskError } from './ask-error.ts';
import type { Asker } from './asker.ts';

export { AskError, type AskErrorCode } from './ask-error.ts';
export type { Asker } from './asker.ts';

/** The asker of a call: by requests of ours, or by asking for a retry. Throws where the protocol lets nobody ask. */
export async function askerOf(call: Call): Promise<Asker> {
  if (methodRow(call.method)?.asks !== true) {
    throw new AskError(
      'not-allowed-here',
      `${call.method} can not ask the client; only tools, prompts and resource reads can`,
    );
  }
  if (call.revision.asks === 'push') {
    const { PushAsker } = await import('./push.ts');
    return (call.asker ??= new PushAsker(call));
  }
  const { RetryAsker } = await import('./retry.ts');
  return (call.asker ??= new RetryAsker(call));
}

/** Reads what an earlier round left behind, before the handler runs. Undefined when this is a first round. */
export function resumeRounds(call: Call, singleUse = false): Promise<void> | undefined {
  const { requestState, inputResponses } = call.params;
  if (call.revision.asks !== 'retry' || (requestState === undefined && inputResponses === undefined)) return undefined;
  return import('./retry.ts').then(({ RetryAsker }) => {
    const asker = new RetryAsker(call);
    call.asker = asker;
    return asker.resume(singleUse);
  });
}
