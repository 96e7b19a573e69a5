// Prompts: listing and getting them.

import { methods } from '../../protocol/methods.ts';
import type { JsonObject, Prompt, PromptResult } from '../../protocol/model.ts';
import { OutgoingCall } from '../calls/outgoing-call.ts';
import { clientErrors } from '../errors.ts';
import { assertCallOptions } from '../known-call-options.ts';
import type { CallOptions } from '../options.ts';
import { type FeatureContext, requireOffered } from './feature-context.ts';
import { ListReader } from './lists.ts';
import { requireArguments } from './method-arguments.ts';

/** The prompts of one server. */
export class Prompts {
  readonly #context: FeatureContext;
  readonly lists: ListReader<Prompt>;

  constructor(context: FeatureContext) {
    this.#context = context;
    this.lists = new ListReader<Prompt>(context, {
      row: methods.listPrompts,
      key: 'prompts',
      strings: ['name'],
      readBy: ['listPrompts', 'pagePrompts'],
    });
  }

  async get(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<PromptResult> {
    requireArguments('getPrompt', name, args);
    assertCallOptions('getPrompt', options);
    requireOffered(this.#context, methods.getPrompt);
    const given = args === undefined ? '' : `,"arguments":${JSON.stringify(args)}`;
    const call = new OutgoingCall(methods.getPrompt, `"name":${JSON.stringify(name)}${given}`, toPromptResult, options);
    call.addressed = { name };
    call.idempotent = true;
    return this.#context.caller.start<PromptResult>(call);
  }
}

function toPromptResult(result: JsonObject): PromptResult {
  if (Array.isArray(result['messages'])) return result as unknown as PromptResult;
  throw clientErrors.invalidResult(methods.getPrompt.name, '"messages" is not an array');
}
