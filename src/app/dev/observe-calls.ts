// The calls of a server that `mooring dev --http` runs, with the error that the client gets.

import { parseJson } from '../../common/parse-json.ts';
import type { Observer } from '../../engine/ports.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { callOf, errorOf, type RelayedCall } from './relayed-call.ts';

/** Reports a call when it ends; one that failed when its response, which has the error, is sent. */
export function observeCalls(onCall: (call: RelayedCall) => void): Observer {
  const failed = new WeakMap<object, Map<unknown, RelayedCall>>();
  return {
    ended({ request: { method, params, peer, ctx }, outcome, durationMs }) {
      const call = callOf({ method, params }, durationMs, outcome === 'ok' ? undefined : outcome);
      if (outcome !== 'failed' && outcome !== 'rejected') return onCall(call);
      const ofPeer = failed.get(peer) ?? new Map<unknown, RelayedCall>();
      failed.set(peer, ofPeer.set(ctx.requestId, call));
    },
    sent(text, peer) {
      const ofPeer = failed.get(peer);
      if (ofPeer === undefined || ofPeer.size === 0) return;
      for (const message of [parseJson(text)].flat() as JsonObject[]) {
        const call = message['method'] === undefined ? ofPeer.get(message['id']) : undefined;
        if (call === undefined) continue;
        ofPeer.delete(message['id']);
        onCall({ ...call, error: errorOf(message) ?? call.error });
      }
    },
    rejected({ message, error }) {
      const { id, method, params } = (message ?? {}) as JsonObject;
      if (id !== undefined && method !== undefined) onCall(callOf({ method, params }, 0, error.message));
    },
  };
}
