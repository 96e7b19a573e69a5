// Completion: what a server suggests for an argument of a prompt or a variable of a template.

import { isObject } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import type { Completion, CompletionRef, JsonObject } from '../../protocol/model.ts';
import { OutgoingCall } from '../calls/outgoing-call.ts';
import { clientErrors } from '../errors.ts';
import { assertCallOptions } from '../known-call-options.ts';
import type { CallOptions } from '../options.ts';
import { type FeatureContext, requireOffered } from './feature-context.ts';

/** What is to be completed. */
export interface CompletionRequest {
  /** The prompt or resource template that has the argument. */
  readonly ref: CompletionRef;
  /** The name of the argument, and what the user has typed so far. */
  readonly argument: { readonly name: string; readonly value: string };
  /** Arguments that are known already. */
  readonly context?: Readonly<Record<string, string>>;
}

/** Requests suggestions. */
export async function complete(
  context: FeatureContext,
  request: CompletionRequest,
  options?: CallOptions,
): Promise<Completion> {
  if (!isObject(request) || !isObject(request.ref) || !isObject(request.argument)) {
    throw clientErrors.configuration(
      'complete needs the prompt or template, and the argument: ' +
        'client.complete({ ref: { type: "ref/prompt", name: "…" }, argument: { name: "…", value: "…" } })',
    );
  }
  assertCallOptions('complete', options);
  requireOffered(context, methods.complete);
  const { ref, argument, context: known } = request;
  const params = { ref, argument, ...(known === undefined ? {} : { context: { arguments: known } }) };
  const call = new OutgoingCall(methods.complete, JSON.stringify(params).slice(1, -1), toCompletion, options);
  call.idempotent = true;
  return context.caller.start<Completion>(call);
}

function toCompletion({ completion }: JsonObject): Completion {
  if (isObject(completion) && Array.isArray(completion['values'])) return completion as unknown as Completion;
  throw clientErrors.invalidResult(methods.complete.name, '"completion.values" is not an array');
}
