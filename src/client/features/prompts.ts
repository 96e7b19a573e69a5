// Prompts: listing and getting them.

import { methods } from '../../protocol/methods.ts';
import type { Prompt, PromptResult } from '../../protocol/model.ts';
import { Call, type Fields } from '../call.ts';
import { clientErrors } from '../errors.ts';
import type { CallOptions } from '../options.ts';
import { demand, type Kit } from './kit.ts';
import { ListReader } from './lists.ts';

/** The prompts of one server. */
export class Prompts {
  readonly #kit: Kit;
  readonly lists: ListReader<Prompt>;

  constructor(kit: Kit) {
    this.#kit = kit;
    this.lists = new ListReader<Prompt>(kit, { row: methods.listPrompts, key: 'prompts', strings: ['name'] });
  }

  async get(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<PromptResult> {
    demand(this.#kit, methods.getPrompt);
    const given = args === undefined ? '' : `,"arguments":${JSON.stringify(args)}`;
    const call = new Call(methods.getPrompt, `"name":${JSON.stringify(name)}${given}`, toPromptResult, options);
    call.addressed = { name };
    call.idempotent = true;
    return this.#kit.caller.start<PromptResult>(call);
  }
}

function toPromptResult(result: Fields): PromptResult {
  if (Array.isArray(result['messages'])) return result as unknown as PromptResult;
  throw clientErrors.invalidResult(methods.getPrompt.name, '"messages" is not an array');
}
