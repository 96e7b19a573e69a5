// Notifications about one task on revisions where a client must listen for them. Only a help: without them the task is
// polled more often.

import { isObject } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { OutgoingCall } from '../calls/outgoing-call.ts';
import { clientErrors } from '../errors.ts';
import type { FeatureContext } from '../features/feature-context.ts';

/**
 * Resolves when the server has agreed to send notifications about the task; `over` then resolves when it does not any
 * more. Undefined: it does not send any.
 */
export async function listenToTask(
  { caller, latest }: FeatureContext,
  id: string,
  signal: AbortSignal,
): Promise<{ readonly over: Promise<void> } | undefined> {
  const { codec } = latest;
  if (codec?.requests.has(methods.listen.name) !== true) return undefined;
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const call = new OutgoingCall(methods.listen, codec.listenFields({ taskIds: [id] }), () => undefined, {
    signal: controller.signal,
  });
  call.longLived = true;
  const acknowledged = new Promise<JsonObject>((resolve) => {
    call.onAcknowledged = resolve;
  });
  const over = caller.start<void>(call).then(
    () => {},
    // Rejected, lost or ended by us: polling continues in any case.
    () => {},
  );
  void over.then(() => signal.removeEventListener('abort', stop));
  const params = await Promise.race([acknowledged, over.then(() => undefined)]);
  if (params === undefined) return undefined;
  const { notifications } = params;
  const ids = isObject(notifications) ? notifications['taskIds'] : undefined;
  if (Array.isArray(ids) && ids.includes(id)) {
    call.connection?.exempt(call);
    return { over };
  }
  controller.abort(clientErrors.notOffered('notifications about tasks'));
  return undefined;
}
