// The messages of the workers' bus, between a worker and the relay in the process that started it.

import type { Json } from '../../protocol/model.ts';

/** From a worker to the relay. */
export type ToRelay =
  | { readonly type: 'join'; readonly process: string }
  | { readonly type: 'publish'; readonly number: number; readonly topic: string; readonly data: Json }
  | { readonly type: 'send'; readonly to: string; readonly topic: string; readonly data: Json }
  | {
      readonly type: 'request';
      readonly to: string;
      readonly number: number;
      readonly topic: string;
      readonly data: Json;
    }
  | { readonly type: 'response'; readonly to: string; readonly number: number; readonly outcome: BusOutcome }
  | { readonly type: 'check' };

/** From the relay to a worker. */
export type FromRelay =
  | { readonly type: 'processes'; readonly processes: readonly string[]; readonly position: number }
  | {
      readonly type: 'published';
      readonly position: number;
      readonly from: string;
      /** The number that its sender gave it. */
      readonly number: number;
      readonly topic: string;
      readonly data: Json;
    }
  | { readonly type: 'sent'; readonly from: string; readonly topic: string; readonly data: Json }
  | {
      readonly type: 'requested';
      readonly from: string;
      readonly number: number;
      readonly topic: string;
      readonly data: Json;
    }
  | { readonly type: 'responded'; readonly number: number; readonly outcome: BusOutcome }
  | { readonly type: 'checked' };

/** The outcome of a request: what the listener returned, or why it failed. */
export type BusOutcome = { readonly value: Json } | { readonly error: string };

/** One end of a connection between a worker and the relay. Messages arrive in the order in which they were sent. */
export interface BusPort<Out, In> {
  send(message: Out): void;
  onMessage(listener: (message: In) => void): void;
}

/** The name of the relay as a process: requests to it are served by the process that started the workers. */
export const relayProcess = 'relay';
