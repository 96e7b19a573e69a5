// The messages between `mooring dev --http` and the server process.

import type { Json } from '../../protocol/model.ts';
import type { RelayedCall } from './relayed-call.ts';

/** Lists whose changes clients are notified of. */
export const lists = ['tools', 'resources', 'prompts'] as const;
export type List = (typeof lists)[number];

/** To the server, once. Not an argument: other users of the machine could see the key. */
export interface FrontMessage {
  /** Where clients connect. */
  readonly url: string;
  /** Seals session ids, so that a restarted server knows the sessions of the one before. */
  readonly key: string;
  /** The state of these sessions: log levels, subscriptions. */
  readonly state: readonly StoredState[];
}

export interface StoredState {
  readonly key: string;
  readonly value: Json;
  readonly expiresAtMs: number;
}

/** From the server. */
export type ServerMessage =
  | { readonly kind: 'listening'; readonly port: number; readonly lists: readonly List[] }
  | { readonly kind: 'call'; readonly call: RelayedCall }
  | { readonly kind: 'stored'; readonly state: StoredState }
  | { readonly kind: 'deleted'; readonly key: string };
