// Rounds of input: a result that asks instead of answering is taken to the handlers, and the request is sent again with
// what they said. All questions of a round are asked at once.

import { errorRows } from '../protocol/errors.ts';
import { isObject, type Params } from '../protocol/json-rpc.ts';
import { methods } from '../protocol/methods.ts';
import type { ClientCodec, WireInputRequest } from '../protocol/revisions/client-revisions.ts';
import type { ClientError } from './errors.ts';
import { clientErrors } from './errors.ts';
import { InputFailure, type InputResponder } from './input-requests.ts';
import { pause } from './retry.ts';

/** The pause before coming back to a server that asked nothing and only wants to be asked again. */
const emptyRetryMs = 250;
/** Stops a result from unfolding into more dialogs than anybody would answer. */
const maxInputRequests = 64;

interface InputRequiredResult {
  readonly requests: Readonly<Record<string, WireInputRequest>>;
  readonly state: string | undefined;
}

/** The params that answer a round, as JSON without braces. Rejects with a `ClientError`. */
export async function respondToInputRequests(
  method: string,
  { requests, state }: InputRequiredResult,
  inputs: InputResponder,
  codec: ClientCodec,
  signal: AbortSignal,
): Promise<string> {
  const questions = Object.entries(requests);
  if (questions.length > maxInputRequests) {
    throw clientErrors.invalidResult(method, `it asks ${questions.length} questions at once`);
  }
  const fields: string[] = [];
  if (questions.length === 0) await pause(emptyRetryMs, signal);
  else {
    const answers = await Promise.all(
      questions.map(async ([key, asked]) => {
        const answer = await inputs.answer(asked.method, asked.params, codec, signal).catch((error: unknown) => {
          throw explain(method, asked.method, error);
        });
        return [key, answer] as const;
      }),
    );
    fields.push(`"inputResponses":${JSON.stringify(Object.fromEntries(answers))}`);
  }
  // Exactly what was given, and nothing where nothing was.
  if (state !== undefined) fields.push(`"requestState":${JSON.stringify(state)}`);
  return fields.join(',');
}

/** The links a server wants visited before it serves a request (error -32042). */
export function linksToVisit({ serverError }: ClientError): readonly Params[] | undefined {
  if (serverError?.code !== errorRows.urlElicitationRequired.code || !isObject(serverError.data)) return undefined;
  const { elicitations } = serverError.data;
  const usable = Array.isArray(elicitations) && elicitations.length > 0 && elicitations.length <= maxInputRequests;
  return usable && elicitations.every(isObject) ? elicitations : undefined;
}

/** Has the links visited; true when every one of them was. Rejects with a `ClientError`. */
export async function visitLinks(
  method: string,
  links: readonly Params[],
  inputs: InputResponder,
  codec: ClientCodec,
  signal: AbortSignal,
): Promise<boolean> {
  const visits = await Promise.all(
    links.map((link) => inputs.answer(methods.elicit.name, { ...link, mode: 'url' }, codec, signal)),
  ).catch((error: unknown) => {
    throw explain(method, methods.elicit.name, error);
  });
  return visits.every(({ action }) => action === 'accept');
}

function explain(method: string, asked: string, error: unknown): unknown {
  if (!(error instanceof InputFailure)) return error;
  if (error.kind === 'unavailable' || error.kind === 'unknown') return clientErrors.inputUnavailable(method, asked);
  return clientErrors.inputDeclined(method, error.message, error.cause ?? error);
}
