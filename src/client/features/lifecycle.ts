// Whether the server is there, and telling it that our folders have changed.

import { methods } from '../../protocol/methods.ts';
import { OutgoingCall } from '../calls/outgoing-call.ts';
import { assertCallOptions } from '../known-call-options.ts';
import type { CallOptions } from '../options.ts';
import type { FeatureContext } from './feature-context.ts';

/** Checks that the server responds. The newest revision has no ping; server/discover serves as well. */
export async function ping(context: FeatureContext, options?: CallOptions): Promise<void> {
  assertCallOptions('ping', options);
  const connection = await context.caller.ready();
  const row = connection.codec?.requests.has(methods.ping.name) ? methods.ping : methods.discover;
  const call = new OutgoingCall(row, '', () => undefined, options);
  call.idempotent = true;
  await context.caller.start(call);
}

/** Notifies the server that the roots have changed, on revisions where it remembers them. */
export function announceRoots(context: FeatureContext): void {
  context.latest.notify('notifications/roots/list_changed');
}
