// After messages of other processes may have been missed: what they said about sessions in use is looked up in the store.

import type { Json } from '../../../protocol/model.ts';
import type { Bus, ExpiringStore } from '../../../protocol/ports.ts';
import type { EndpointState } from '../endpoint-state.ts';
import type { ActiveSession, ActiveSessions } from './active-sessions.ts';

/** What is done with a session. */
export interface SessionActions {
  /** Ends a session in this process. */
  end(key: string): void;
  /** Reads its state from the store. */
  reload(session: ActiveSession): Promise<unknown>;
  /** What the store has about its standalone stream. */
  readStream(session: ActiveSession): Json | undefined | Promise<Json | undefined>;
}

/** How soon it is tried again if the store cannot be asked. */
const retryMs = 1_000;

/** Looks sessions in use up whenever the bus reports a gap. */
export function recheckSessions(
  bus: Bus,
  endpoint: EndpointState,
  store: ExpiringStore,
  active: ActiveSessions,
  actions: SessionActions,
): void {
  let isPlanned = false;
  const recheckAll = async (): Promise<void> => {
    for (const session of active.all()) await recheck(session);
  };
  const recheck = async (session: ActiveSession): Promise<void> => {
    if ((await store.get(session.opened.revokedKey)) !== undefined) return actions.end(session.key);
    await actions.reload(session);
    const held = session.heldStream;
    if (held?.openedAt === undefined) return;
    const { process } = ((await actions.readStream(session)) ?? {}) as { readonly process?: string };
    // Another process has opened the stream meanwhile.
    if (process === undefined || process === bus.process || session.heldStream !== held) return;
    session.heldStream = undefined;
    session.releaseStream();
  };
  const plan = (ms: number): void => {
    if (isPlanned) return;
    isPlanned = true;
    const timer = setTimeout(() => {
      isPlanned = false;
      recheckAll().catch((error: unknown) => {
        endpoint.logger.warn('sessions could not be looked up after a gap; they are looked up again', { error });
        plan(retryMs);
      });
    }, ms);
    (timer as { unref?: () => void }).unref?.();
  };
  bus.onGap(() => plan(0));
}
