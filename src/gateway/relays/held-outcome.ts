// The outcome of a held call as it is sent to another process: the response of the upstream, or why there is none.

import { ClientError, type ClientErrorCode, type ServerErrorInfo } from '../../client/index.ts';
import type { Json } from '../../protocol/model.ts';
import { messageOf, UpstreamUnavailable } from '../upstreams/start-error.ts';
import { decodeRequest, type EncodedInputRequest, encodeRequest } from './held-call-messages.ts';
import { InputNotPossible } from './phases.ts';
import { LinksDeclined, type Relayed } from './relay.ts';

type EncodedHeldOutcome =
  | {
      readonly type: 'answer';
      readonly value: Json;
      readonly revision: string;
      readonly text?: string | undefined;
      readonly unavailable: readonly EncodedInputRequest[];
    }
  | { readonly type: 'failure'; readonly failure: EncodedFailure };

type EncodedFailure =
  | { readonly type: 'client'; readonly code: string; readonly message: string; readonly serverError?: Json }
  | {
      readonly type: 'unavailable';
      readonly slug: string;
      readonly message: string;
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly type: 'input-not-possible'; readonly requests: readonly EncodedInputRequest[] }
  | { readonly type: 'links-declined' }
  | { readonly type: 'other'; readonly name: string; readonly message: string };

export async function encodeOutcome(outcome: Promise<unknown>): Promise<Json> {
  return (await encoded(outcome as Promise<Relayed<Json>>)) as unknown as Json;
}

async function encoded(outcome: Promise<Relayed<Json>>): Promise<EncodedHeldOutcome> {
  try {
    const { value, call, revision } = await outcome;
    return { type: 'answer', value, revision, text: call.resultText, unavailable: call.unavailable.map(encodeRequest) };
  } catch (error) {
    return { type: 'failure', failure: encodeFailure(error) };
  }
}

/** Throws the failure, if it is one. */
export function decodeOutcome(encodedOutcome: Json): Relayed<unknown> {
  const outcome = encodedOutcome as unknown as EncodedHeldOutcome;
  if (outcome.type === 'failure') throw decodeFailure(outcome.failure);
  const { value, revision, text, unavailable } = outcome;
  return { value, revision, call: { resultText: text, unavailable: unavailable.map(decodeRequest) } };
}

function encodeFailure(error: unknown): EncodedFailure {
  if (error instanceof ClientError) {
    const { code, message, serverError } = error;
    return { type: 'client', code, message, ...(serverError && { serverError: serverError as unknown as Json }) };
  }
  if (error instanceof UpstreamUnavailable) {
    const { slug, message, retryAfterMs } = error;
    return { type: 'unavailable', slug, message, retryAfterMs };
  }
  if (error instanceof InputNotPossible) {
    return { type: 'input-not-possible', requests: error.requests.map(encodeRequest) };
  }
  if (error instanceof LinksDeclined) return { type: 'links-declined' };
  return { type: 'other', name: error instanceof Error ? error.name : 'Error', message: messageOf(error) };
}

function decodeFailure(failure: EncodedFailure): Error {
  switch (failure.type) {
    case 'client': {
      const serverError = failure.serverError as ServerErrorInfo | undefined;
      return new ClientError(failure.code as ClientErrorCode, failure.message, { serverError });
    }
    case 'unavailable':
      return new UpstreamUnavailable(failure.slug, failure.message, failure.retryAfterMs);
    case 'input-not-possible':
      return new InputNotPossible(failure.requests.map(decodeRequest));
    case 'links-declined':
      return new LinksDeclined(undefined);
    case 'other':
      return Object.assign(new Error(failure.message), { name: failure.name });
  }
}
