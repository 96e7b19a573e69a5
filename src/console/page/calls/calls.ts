// Calls that this tab started. Their updates arrive with the feed.

import { signal } from '@preact/signals';
import type { CallRequest, CallStarted, InputAnswer, JsonObject } from '../../api.ts';
import { FieldReader } from '../forms/field.ts';
import { formatJson, parseJson } from '../forms/json-text.ts';
import type { Schema } from '../forms/merge.ts';
import { withoutSecrets } from '../forms/secrets.ts';
import { post } from '../server.ts';

/** With the path: several servers of one program are pages of the same origin. */
const ownKey = `mooring-console-calls:${location.pathname}`;
/** Own calls that a reload still knows. */
const maxOwn = 20;

/** Calls of this tab: only those open dialogs here. */
export const ownCalls = signal<readonly string[]>(readOwn());
/** The last call of each tool, resource or prompt on its screen. */
export const shownCalls = signal<ReadonlyMap<string, string>>(new Map());

function readOwn(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(ownKey) ?? '[]');
    return Array.isArray(stored) ? stored.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}

const callArguments = new Map<string, string>();

/** The arguments of a call of this page. */
export function argumentsOf(call: string): JsonObject {
  return JSON.parse(callArguments.get(call) ?? '{}') as JsonObject;
}

export function addOwnCall(call: string): void {
  ownCalls.value = [...ownCalls.value, call].slice(-maxOwn);
  sessionStorage.setItem(ownKey, JSON.stringify(ownCalls.value));
}

export async function startCall(place: string, request: CallRequest): Promise<void> {
  const { call } = await post<CallStarted>('calls', request);
  addOwnCall(call);
  callArguments.set(call, request.argumentsText ?? '{}');
  for (const old of callArguments.keys()) if (callArguments.size > maxOwn) callArguments.delete(old);
  shownCalls.value = new Map([...shownCalls.value, [place, call]]);
}

export const cancelCall = (call: string): Promise<unknown> => post(`calls/${encodeURIComponent(call)}/cancel`, {});

export const answerInput = (call: string, answer: InputAnswer): Promise<unknown> =>
  post(`calls/${encodeURIComponent(call)}/input`, answer);

/** Longer arguments are not kept. */
const maxKept = 20_000;
const argumentsKey = (server: string, tool: string): string => `mooring-console-arguments:${server}:${tool}`;

/** Remembers the arguments of the last run of a tool in this browser, without secrets. */
export function keepArguments(server: string, tool: string, schema: Schema, text: string): void {
  try {
    const kept = formatJson(withoutSecrets(schema, parseJson(text), new FieldReader(schema)), true);
    if (kept.length <= maxKept) localStorage.setItem(argumentsKey(server, tool), kept);
  } catch {
    // A full or disabled storage only means that the form starts empty.
  }
}

export function keptArguments(server: string, tool: string): string | undefined {
  try {
    return localStorage.getItem(argumentsKey(server, tool)) ?? undefined;
  } catch {
    return undefined;
  }
}
