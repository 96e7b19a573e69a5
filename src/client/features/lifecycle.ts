// Whether the server is there, and telling it that our folders have changed.

import { methods } from '../../protocol/methods.ts';
import type { CallOptions } from '../options.ts';
import { OutgoingCall } from '../outgoing-call.ts';
import type { FeatureContext } from './feature-context.ts';

/** Checks that the server responds. The newest revision has no ping; server/discover serves as well. */
export async function ping(kit: FeatureContext, options?: CallOptions): Promise<void> {
  const connection = await kit.caller.ready();
  const row = connection.codec?.requests.has(methods.ping.name) ? methods.ping : methods.discover;
  const call = new OutgoingCall(row, '', () => undefined, options);
  call.idempotent = true;
  await kit.caller.start(call);
}

/** Notifies the server that the roots have changed, on revisions where it remembers them. */
export function announceRoots(kit: FeatureContext): void {
  kit.latest.notify('notifications/roots/list_changed');
}
