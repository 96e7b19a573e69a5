// The input requests of an upstream: each goes to the caller whose call caused it. If that is not certain it is rejected.

import { type InputContext, InputFailure, type InputHandlers } from '../../client/index.ts';
import type { ElicitResult, Root, SamplingResult } from '../../protocol/model.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import { formRequest, rootsRequest, samplingRequest, urlRequest } from '../relays/input-request.ts';
import type { Asks, UpstreamCall } from './contract.ts';

/** The calls in flight on a connection, as far as input requests need them. */
export interface CallFinder {
  /** The call that a message of the upstream belongs to. */
  find(context: Pick<InputContext, 'call' | 'task'>): UpstreamCall | 'ambiguous' | undefined;
  ambiguous(): void;
}

const unavailable = (what: string): InputFailure => new InputFailure('unavailable', what);

/** The handlers of a connection; what has a handler is declared. */
export function inputHandlers({ asks: allowed, roots }: UpstreamConfig, asks: Asks, calls: CallFinder): InputHandlers {
  const callFor = (context: InputContext): UpstreamCall => {
    const call = calls.find(context);
    if (call === 'ambiguous') {
      calls.ambiguous();
      throw new InputFailure(
        'failed',
        'Several callers have requests in progress, so that it is not certain who to ask',
      );
    }
    if (call === undefined) throw unavailable('No request is in progress, so that there is no one to ask');
    return call;
  };
  return {
    ...(allowed.includes('elicitation') &&
      asks.form && {
        elicit: ({ message, schema }, context) =>
          callFor(context).ask(formRequest(message, schema), context.signal) as Promise<ElicitResult>,
      }),
    ...(allowed.includes('elicitation') &&
      asks.url && {
        elicitUrl: ({ message, url }, context) =>
          callFor(context).ask(urlRequest(message, url), context.signal) as Promise<ElicitResult>,
      }),
    ...(allowed.includes('sampling') &&
      asks.sampling && {
        sample: (params, context) =>
          callFor(context).ask(samplingRequest(params), context.signal) as Promise<SamplingResult>,
      }),
    ...(allowed.includes('roots') && {
      roots: async (context) => {
        const call = calls.find(context);
        const given = roots ?? [];
        if (call === undefined || call === 'ambiguous' || !call.asks.roots) return given;
        try {
          return (await call.ask(rootsRequest(), context.signal)) as readonly Root[];
        } catch (error) {
          // Servers ask when they start, and the call that they were started for may end before its client has answered.
          if (error instanceof InputFailure) return given;
          throw error;
        }
      },
    }),
  };
}
