// The input responses and finished steps of a call that the client will retry. The client holds the journal, sealed and
// bound to the request and its caller; a journal that is too large stays in the store and the client holds a handle.

import { callerKey } from '../../protocol/callers/caller-budget.ts';
import { type WireError, wireErrors } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Json } from '../../protocol/model.ts';
import { canonicalJson } from '../../schema/index.ts';
import type { Call } from '../contract.ts';
import { principalKey } from '../ports.ts';
import { digestOf } from '../sealer.ts';

const purpose = 'requestState';

export interface Journal {
  readonly responses: Map<string, { readonly kind: string; readonly value: Json }>;
  readonly steps: Map<string, Json>;
  /** Identifies the state that this journal was opened from, for single use. */
  readonly nonce: string | undefined;
  /** When that state expires. */
  readonly until: number;
}

export function emptyJournal(): Journal {
  return { responses: new Map(), steps: new Map(), nonce: undefined, until: 0 };
}

/** The members of a sealed state. */
interface Sealed {
  readonly until: number;
  readonly nonce: string;
  readonly responses?: Json;
  readonly steps?: Json;
  /** The journal is in the store under this key. */
  readonly storedHandle?: string;
}

/** A state is only valid for the same request of the same caller. */
async function bindingOf(call: Call): Promise<string> {
  const { _meta, inputResponses, requestState, ...params } = call.params as Record<string, unknown>;
  return `${call.method}\u0000${principalKey(call.peer.principal)}\u0000${await digestOf(canonicalJson(params))}`;
}

/** Opens the state that a client sent back. Anything but an unchanged, current state is rejected. */
export async function openJournal(call: Call, state: unknown): Promise<Journal | WireError> {
  if (typeof state !== 'string') return wireErrors.invalidRequestState('it must be the string that this server sent');
  const { sealer, store, limits } = call.server;
  // Longer than any that is sent: a character takes up to three bytes, and three bytes take four characters when sealed.
  if (state.length > limits.maxJournalBytes * 4 + 4_096)
    return wireErrors.invalidRequestState('it was not created by this server');
  const opened = (await sealer.open(purpose, state, await bindingOf(call))) as Sealed | undefined;
  if (!isObject(opened)) return wireErrors.invalidRequestState('it was not created for this request');
  if (opened.until < Date.now()) return wireErrors.invalidRequestState('it has expired');
  let { responses, steps } = opened;
  if (opened.storedHandle !== undefined) {
    const stored = await store.get(`journal ${opened.storedHandle}`);
    if (!isObject(stored)) return wireErrors.invalidRequestState('it has expired');
    ({ responses, steps } = stored as { responses?: Json; steps?: Json });
  }
  return {
    responses: new Map(Object.entries((responses ?? {}) as Record<string, { kind: string; value: Json }>)),
    steps: new Map(Object.entries((steps ?? {}) as Record<string, Json>)),
    nonce: opened.nonce,
    until: opened.until,
  };
}

/**
 * Seals a journal for the client to send back. Also an empty one: its nonce distinguishes a retry from the same retry sent
 * twice.
 */
export async function sealJournal(call: Call, journal: Journal): Promise<string> {
  const { sealer, store, limits } = call.server;
  const content = {
    ...(journal.responses.size === 0 ? {} : { responses: Object.fromEntries(journal.responses) }),
    ...(journal.steps.size === 0 ? {} : { steps: Object.fromEntries(journal.steps) }),
  };
  const head = { until: Date.now() + limits.journalTtlMs, nonce: crypto.randomUUID() };
  let sealed: Sealed = { ...head, ...content };
  if (JSON.stringify(content).length > limits.maxJournalBytes) {
    await store.set(`journal ${head.nonce}`, content, limits.journalTtlMs, callerKey(call.peer));
    sealed = { ...head, storedHandle: head.nonce };
  }
  return sealer.seal(purpose, sealed as unknown as Json, await bindingOf(call));
}

/** Marks a state as used; false if it was used before. Throws if the mark cannot be stored, so that nothing runs. */
export async function useOnce(call: Call, nonce: string, until: number): Promise<boolean> {
  const { store, limits, usedStates } = call.server;
  const caller = callerKey(call.peer);
  if (usedStates.isFull(caller)) throw wireErrors.overloaded(usedStates.waitMs(caller));
  // The state may have been sealed by a process whose clock is ahead; the mark must still outlive it.
  const ttlMs = Math.max(limits.journalTtlMs, until - Date.now());
  const added = await store.add(`used ${nonce}`, true, ttlMs);
  if (added) usedStates.charge(caller, ttlMs);
  return added;
}
