// Chooses how a call asks: by requests of ours, or by asking for a retry.

import { methodRow } from '../../protocol/methods.ts';
import type { Call } from '../call.ts';
import { AskError, type Asker } from './asker.ts';
import { PushAsker } from './push.ts';
import { RetryAsker } from './retry.ts';

export { AskError, type AskErrorCode, type Asker } from './asker.ts';
export { RetryAsker } from './retry.ts';

/** The asker of a call. Throws where the protocol lets nobody ask. */
export function createAsker(call: Call): Asker {
  if (methodRow(call.method)?.asks !== true) {
    throw new AskError(
      'not-allowed-here',
      `${call.method} can not ask the client; only tools, prompts and resource reads can`,
    );
  }
  return call.revision.asks === 'push' ? new PushAsker(call) : new RetryAsker(call);
}

/** Reads what an earlier round left behind, before the handler runs. Undefined when this is a first round. */
export function resumeRounds(call: Call, singleUse = false): Promise<void> | undefined {
  if (call.revision.asks !== 'retry' || !RetryAsker.continues(call)) return undefined;
  const asker = new RetryAsker(call);
  call.asker = asker;
  return asker.resume(singleUse);
}
