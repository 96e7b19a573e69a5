// What a chain of rounds has learned so far: answers and finished steps. It travels with the client, sealed and bound
// to who asked for what; a journal too large to travel stays here and a handle travels instead.

import { callerKey } from '../../protocol/caller-budget.ts';
import { type WireError, wireErrors } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Json } from '../../protocol/model.ts';
import { canonicalJson } from '../../schema/index.ts';
import type { Call } from '../contract.ts';
import { principalKey } from '../ports.ts';
import { digestOf } from '../sealer.ts';

const purpose = 'requestState';

export interface Journal {
  readonly answers: Map<string, { readonly kind: string; readonly value: Json }>;
  readonly steps: Map<string, Json>;
  /** Identifies the state this journal came from, for single use. */
  readonly nonce: string | undefined;
  /** When that state expires. */
  readonly until: number;
}

export function emptyJournal(): Journal {
  return { answers: new Map(), steps: new Map(), nonce: undefined, until: 0 };
}

interface Sealed {
  readonly until: number;
  readonly nonce: string;
  readonly answers?: Json;
  readonly steps?: Json;
  /** The journal is in the store under this key. */
  readonly storedHandle?: string;
}

/** Who asked for what: a state is only good for the same request of the same caller. */
async function bindingOf(call: Call): Promise<string> {
  const { _meta, inputResponses, requestState, ...asked } = call.params as Record<string, unknown>;
  return `${call.method}\u0000${principalKey(call.peer.principal)}\u0000${await digestOf(canonicalJson(asked))}`;
}

/** Opens the state a client sent back. Anything that is not exactly what was given out is refused. */
export async function openJournal(call: Call, state: unknown): Promise<Journal | WireError> {
  if (typeof state !== 'string') return wireErrors.invalidRequestState('it must be the string that was given out');
  const { sealer, store, limits } = call.server;
  // Longer than any that is given out: a character takes up to three bytes, and three bytes four characters when sealed.
  if (state.length > limits.maxJournalBytes * 4 + 4_096)
    return wireErrors.invalidRequestState('it was not given out by this server');
  const opened = (await sealer.open(purpose, state, await bindingOf(call))) as Sealed | undefined;
  if (!isObject(opened)) return wireErrors.invalidRequestState('it was not given out for this request');
  if (opened.until < Date.now()) return wireErrors.invalidRequestState('it has expired');
  let { answers, steps } = opened;
  if (opened.storedHandle !== undefined) {
    const storedHandle = await store.get(`journal ${opened.storedHandle}`);
    if (!isObject(storedHandle)) return wireErrors.invalidRequestState('it has expired');
    ({ answers, steps } = storedHandle as { answers?: Json; steps?: Json });
  }
  return {
    answers: new Map(Object.entries((answers ?? {}) as Record<string, { kind: string; value: Json }>)),
    steps: new Map(Object.entries((steps ?? {}) as Record<string, Json>)),
    nonce: opened.nonce,
    until: opened.until,
  };
}

/**
 * Seals a journal for the client to bring back. An empty one as well: its nonce is what tells a retry from the same
 * retry sent twice.
 */
export async function sealJournal(call: Call, journal: Journal): Promise<string> {
  const { sealer, store, limits } = call.server;
  const content = {
    ...(journal.answers.size === 0 ? {} : { answers: Object.fromEntries(journal.answers) }),
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

/** Marks a state as used; false when it was used before. Nothing may run when there is no room for the mark. */
export async function useOnce(call: Call, nonce: string, until: number): Promise<boolean> {
  const { store, limits, usedStates } = call.server;
  const caller = callerKey(call.peer);
  if (usedStates.isFull(caller)) throw wireErrors.overloaded(usedStates.waitMs(caller));
  // The state may have been sealed by a clock that was ahead: the mark must outlive it all the same.
  const ttlMs = Math.max(limits.journalTtlMs, until - Date.now());
  const added = await store.add(`used ${nonce}`, true, ttlMs);
  if (added) usedStates.charge(caller, ttlMs);
  return added;
}
