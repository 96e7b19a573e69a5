// The input requests of an upstream: each goes to the caller whose call caused it, and is rejected if that caller is not certain.

import { type InputContext, InputFailure, type InputHandlers } from '../../client/index.ts';
import { withEitherSignal } from '../../common/abort-signals.ts';
import type { ElicitResult, Root, SamplingResult } from '../../protocol/model.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import { decodeInputRequest, formRequest, rootsRequest, samplingRequest, urlRequest } from '../relays/input-request.ts';
import type { Asks, UpstreamCall, UpstreamSession } from './contract.ts';

/** The calls in flight on a connection, as far as input requests need them. */
export interface CallFinder {
  /** The call that a message of the upstream belongs to. */
  find(context: Pick<InputContext, 'call' | 'task'>): UpstreamCall | 'ambiguous' | undefined;
  /** The calls that an input request may belong to. */
  callsOf(context: Pick<InputContext, 'call' | 'task'>): readonly UpstreamCall[];
  /** The session to ask while no call is in progress. */
  session(): UpstreamSession | 'ambiguous' | undefined;
  /** Whose roots it gets; undefined: those of its configuration. */
  callerWithRoots(
    context: Pick<InputContext, 'call' | 'task'>,
  ): UpstreamCall | UpstreamSession | 'ambiguous' | undefined;
  /** It has asked for roots. */
  rootsRequested(roots: Promise<readonly Root[]>): void;
  expectCompletion(id: string, completed: () => void): void;
  ambiguous(): void;
}

/** How long a server waits for the roots of a client, which no user has to enter. Then it gets those of its configuration. */
const maxRootsWaitMs = 10_000;

const unavailable = (what: string): InputFailure => new InputFailure('unavailable', what);

/** The handlers of a connection; what has a handler is declared. */
export function inputHandlers({ asks: allowed, roots }: UpstreamConfig, asks: Asks, calls: CallFinder): InputHandlers {
  const find = (context: InputContext): UpstreamCall | UpstreamSession | 'ambiguous' | undefined => {
    const call = calls.find(context);
    // An input request that names a call belongs to it, even if the call has ended.
    if (call !== undefined || context.call !== undefined || context.task !== undefined) return call;
    return calls.session();
  };
  const callerOf = (context: InputContext): UpstreamCall | UpstreamSession => {
    const found = find(context);
    if (found === 'ambiguous') {
      calls.ambiguous();
      throw new InputFailure(
        'failed',
        'Several callers have requests in progress or sessions open, so it is not certain whom to ask',
      );
    }
    if (found === undefined) throw unavailable('No request is in progress, so there is no one to ask');
    return found;
  };
  const rootsFor = async (context: InputContext): Promise<readonly Root[]> => {
    const given = roots ?? [];
    const caller = calls.callerWithRoots(context);
    if (caller === undefined || caller === 'ambiguous') return given;
    const canBeAsked = 'client' in caller ? caller.client.can('roots') : caller.asks.roots;
    if (!canBeAsked) return given;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), maxRootsWaitMs);
    try {
      const asked = withEitherSignal(context.signal, late.signal, (signal) => caller.ask(rootsRequest(), signal));
      return (await asked) as readonly Root[];
    } catch (error) {
      if (error instanceof InputFailure) return given;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    callsOf: (context) => calls.callsOf(context),
    undeclared: (method, params, context) => {
      const call = calls.find(context);
      const request = decodeInputRequest({ method, params });
      if (call !== undefined && call !== 'ambiguous' && request !== undefined) call.notAsked(request);
    },
    ...(allowed.includes('elicitation') &&
      asks.form && {
        elicit: ({ message, schema }, context) =>
          callerOf(context).ask(formRequest(message, schema), context.signal) as Promise<ElicitResult>,
      }),
    ...(allowed.includes('elicitation') &&
      asks.url && {
        elicitUrl: ({ message, url, elicitationId }, context) => {
          const caller = callerOf(context);
          const id = crypto.randomUUID();
          if (elicitationId !== undefined) {
            const completes = 'client' in caller ? caller.client : caller;
            calls.expectCompletion(elicitationId, () => completes.elicitationCompleted(id));
          }
          return caller.ask(urlRequest(message, url, id), context.signal) as Promise<ElicitResult>;
        },
      }),
    ...(allowed.includes('sampling') &&
      asks.sampling && {
        sample: (params, context) =>
          callerOf(context).ask(samplingRequest(params), context.signal) as Promise<SamplingResult>,
      }),
    ...(allowed.includes('roots') && {
      roots: (context) => {
        const given = rootsFor(context);
        calls.rootsRequested(given);
        return given;
      },
    }),
  };
}
