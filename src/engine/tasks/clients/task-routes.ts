// Routes to the clients of a task: the request that waits for its result, or an open stream of a session.

import { isObject } from '../../../protocol/json-rpc.ts';
import { methods } from '../../../protocol/methods.ts';
import type { Capabilities } from '../../../protocol/model.ts';
import type { Codec } from '../../../protocol/revisions/index.ts';
import type { Session } from '../../channels/session.ts';
import type { Call, CallChannel } from '../../contract.ts';
import type { TaskInput } from '../store/task-store.ts';

/** A route to a client: the request that waits for the result, or an open stream of its session. */
export interface TaskRoute {
  readonly codec: Codec;
  readonly capabilities: Capabilities;
  readonly isLive: boolean;
  /** Whether the client knows the task, so that input requests about it can be sent. */
  readonly isReady: boolean;
  push(text: string): boolean;
}

export class SessionRoute implements TaskRoute {
  readonly session: Session;
  readonly #channel: CallChannel;
  isReady: boolean;

  constructor(session: Session, channel: CallChannel, isReady: boolean) {
    this.session = session;
    this.#channel = channel;
    this.isReady = isReady;
  }

  get codec(): Codec {
    return this.session.codec;
  }
  get capabilities(): Capabilities {
    return this.session.capabilities;
  }
  get isLive(): boolean {
    return this.#channel.reachable;
  }
  push(text: string): boolean {
    return this.#channel.pushUnrelated(text);
  }
}

/** The response to a request that waits for the result of a task. */
export class WaitingRoute implements TaskRoute {
  readonly isReady = true;
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  get codec(): Codec {
    return this.#call.codec;
  }
  get capabilities(): Capabilities {
    return this.#call.capabilities;
  }
  get isLive(): boolean {
    const { settled, outlet, codec } = this.#call;
    return !settled && outlet.duplex && codec.inputRequests === 'push';
  }
  push(text: string): boolean {
    return this.#call.push(text);
  }
}

/** Whether a client with these capabilities can be sent this request. */
export function accepts(capabilities: Capabilities, { method }: TaskInput): boolean {
  if (method === methods.elicit.name) return isObject(capabilities['elicitation']);
  return isObject(capabilities[method === methods.sample.name ? 'sampling' : 'roots']);
}
