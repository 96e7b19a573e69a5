// Follows the server's feed: messages for the timeline, updates of calls, the state of the connection. Connects again when
// the server was unreachable.

import { batch, signal } from '@preact/signals';
import type { CallUpdate, ConnectionState, ConsoleState, FeedBatch, Rates, SubscriptionRow } from '../api.ts';
import { readEvents } from './event-stream.ts';
import { accessProblem, get, send } from './server.ts';
import { Rows } from './timeline/rows.ts';

export const rows = new Rows();
/** Changes with each change of `rows`. */
export const rowsVersion = signal(0);
export const state = signal<ConsoleState | undefined>(undefined);
export const rates = signal<Rates | undefined>(undefined);
export const connection = signal<ConnectionState | undefined>(undefined);
export const calls = signal<ReadonlyMap<string, CallUpdate>>(new Map());
/** The resources that the console follows, by URI. */
export const subscriptions = signal<ReadonlyMap<string, SubscriptionRow>>(new Map());
/** Changes when the server announces that a list changed. */
export const listsVersion = signal(0);
/** Whether the page gets the feed. */
export const feedStatus = signal<'connecting' | 'connected' | 'lost'>('connecting');

/** Updates of calls that the page remembers. */
const maxCalls = 100;
const retryAfterMs = [250, 500, 1_000, 2_000, 5_000];

/** Messages that are added between two frames. */
const maxPerFrame = 2_000;

const waiting: FeedBatch[] = [];
let isPlanned = false;

/** Batches are shown with the next frame, as many as fit into it. */
function receive(received: FeedBatch): void {
  waiting.push(received);
  plan();
}

function plan(): void {
  if (isPlanned) return;
  isPlanned = true;
  // A page in the background gets no frames; its messages must not pile up.
  if (document.hidden) setTimeout(show, 100);
  else requestAnimationFrame(show);
}

/** The next batches, up to a number of messages: after a pause there may be many, and the page must respond meanwhile. */
function takeBatches(): FeedBatch[] {
  let count = 0;
  const end = waiting.findIndex(({ entries }) => (count += entries.length) > maxPerFrame);
  return waiting.splice(0, end === -1 ? waiting.length : end + 1);
}

function show(): void {
  isPlanned = false;
  const batches = takeBatches();
  if (waiting.length > 0) plan();
  batch(() => {
    for (const each of batches) {
      rows.add(each);
      if (each.entries.some((entry) => entry.method?.endsWith('/list_changed') === true)) listsVersion.value += 1;
      if (each.now !== undefined) rates.value = each.now;
      if (each.connection !== undefined) setConnection(each.connection);
      if (each.calls.length > 0) updateCalls(each.calls);
      if (each.subscriptions !== undefined) {
        subscriptions.value = new Map(each.subscriptions.map((row) => [row.uri, row]));
      }
    }
    rowsVersion.value += 1;
  });
}

function setConnection(next: ConnectionState): void {
  const isOpened = next.status === 'connected' && connection.value?.status !== 'connected';
  connection.value = next;
  // Only now the name of the server is known.
  if (isOpened) void refreshState();
}

async function refreshState(): Promise<void> {
  try {
    state.value = await get<ConsoleState>('state');
  } catch {
    // The feed is lost too and shows that; it reloads the state when it reconnects.
  }
}

function updateCalls(updates: readonly CallUpdate[]): void {
  const next = new Map(calls.value);
  for (const update of updates) {
    next.delete(update.call);
    next.set(update.call, update);
  }
  for (const call of next.keys()) {
    if (next.size <= maxCalls) break;
    next.delete(call);
  }
  calls.value = next;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Follows the feed until the token is rejected. */
export async function followFeed(): Promise<void> {
  for (let failures = 0; accessProblem.value === undefined; failures++) {
    try {
      const fresh = await get<ConsoleState>('state');
      // Another process has another feed: its numbers begin again.
      if (state.value !== undefined && state.value.startedAt !== fresh.startedAt) restart();
      state.value = fresh;
      connection.value = fresh.connection;
      const response = await send(`feed?after=${rows.last}`);
      feedStatus.value = 'connected';
      for await (const data of readEvents(response.body as ReadableStream<Uint8Array>)) {
        failures = 0;
        receive(JSON.parse(data) as FeedBatch);
      }
    } catch {
      // Whatever ended it, the next attempt says whether the server is back; a rejected token ends the loop.
    }
    feedStatus.value = 'lost';
    await wait(retryAfterMs[Math.min(failures, retryAfterMs.length - 1)] as number);
  }
}

function restart(): void {
  rows.clear();
  rows.last = 0;
  calls.value = new Map();
  subscriptions.value = new Map();
  rowsVersion.value += 1;
}

export function clearRows(): void {
  rows.clear();
  rowsVersion.value += 1;
}
