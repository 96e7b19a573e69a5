// The client of a session outside of its calls: requests and notifications on the stream or pipe that belongs to no request.

import type { Ability } from '../../protocol/abilities.ts';
import { notificationText } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { SessionClient } from '../context.ts';
import type { InputRequest } from '../input-requests/input-request.ts';
import { supports } from './client-support.ts';
import type { Session } from './session.ts';

/** The channel of the session, as far as this needs it. */
export interface SessionChannelLink {
  readonly session: Session | undefined;
  readonly reachable: boolean;
  pushUnrelated(text: string): boolean;
  requestUnrelated(method: string, params: object, signal: AbortSignal): Promise<unknown>;
}

export class ChannelSessionClient implements SessionClient {
  readonly #channel: SessionChannelLink;
  readonly #session: Session;

  constructor(channel: SessionChannelLink, session: Session) {
    this.#channel = channel;
    this.#session = session;
  }

  get isReachable(): boolean {
    return this.#channel.reachable && this.#session.initialized;
  }

  can(ability: Ability): boolean {
    return this.#session.codec.inputRequests === 'push' && supports(this.#session, ability);
  }

  async requestInput(request: InputRequest, signal: AbortSignal): Promise<unknown> {
    // Loaded with the first input request, as those of calls.
    const { requestOutsideCall } = await import('../input-requests/outside-call.ts');
    return requestOutsideCall(this.#session, request, (method, params) =>
      this.#channel.requestUnrelated(method, params, signal),
    );
  }

  elicitationCompleted(id: string): boolean {
    if (!this.#session.codec.dialect.elicitationId) return false;
    return this.notify('notifications/elicitation/complete', { elicitationId: id });
  }

  notify(method: string, params: JsonObject): boolean {
    return this.isReachable && this.#channel.pushUnrelated(notificationText(method, params));
  }
}
