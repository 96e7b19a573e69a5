// prompts/list and prompts/get.

import { wireErrors } from '../../protocol/errors.ts';
import type { PromptMessage, PromptResult } from '../../protocol/model.ts';
import { isThenable } from '../calls/run-call.ts';
import type { Call, Feature } from '../contract.ts';
import type { PromptDefinition, PromptReturn } from '../definitions.ts';
import { resumeFromState } from '../input-requests/load.ts';
import { runWithInput } from '../input-requests/rerun.ts';

export const listPrompts: Feature<string> = {
  run: (call) => call.server.lists.page('prompts', call),
  encode: (page, { server }) => server.lists.encode(page),
};

export const getPrompt: Feature<PromptResult> = {
  duration: 'handler',
  run(call) {
    const resumed = resumeFromState(call);
    return resumed === undefined ? get(call) : resumed.then(() => get(call));
  },
  encode: (result, { codec }) => codec.promptResult(result),
};

function get(call: Call): PromptResult | Promise<PromptResult> {
  const name = call.params['name'] as string;
  const entry = call.catalog.prompts.get(name);
  if (entry === undefined || (entry.visible !== undefined && !entry.visible(call.peer.principal))) {
    throw wireErrors.unknownPrompt(name);
  }
  const { definition } = entry;
  const given = (call.params['arguments'] ?? {}) as { readonly [key: string]: string };
  const args = entry.relayed === true ? given : declaredArguments(name, definition, given);
  const returned = runWithInput(call, () => definition.get(args as never, call.ctx));
  const { description } = definition;
  const finish = (value: PromptReturn): PromptResult => {
    const result = toPromptResult(name, value, description);
    // What a gateway relays, it has validated already.
    if (entry.relayed !== true) requireMessages(name, result.messages);
    return result;
  };
  if (isThenable(returned)) return Promise.resolve(returned as Promise<PromptReturn>).then(finish);
  return finish(returned as PromptReturn);
}

/** The arguments that the prompt has. Throws if a required one is missing. */
function declaredArguments(
  name: string,
  definition: PromptDefinition,
  given: { readonly [key: string]: string },
): { readonly [key: string]: string } {
  const args: Record<string, string> = Object.create(null);
  for (const [argument, { required }] of Object.entries(definition.args ?? {})) {
    const value = Object.hasOwn(given, argument) ? given[argument] : undefined;
    if (value !== undefined) args[argument] = value;
    else if (required === true) throw wireErrors.missingArgument(name, argument);
  }
  return args;
}

function toPromptResult(name: string, value: PromptReturn, description: string | undefined): PromptResult {
  const described = description === undefined ? {} : { description };
  if (typeof value === 'string') {
    return { ...described, messages: [{ role: 'user', content: { type: 'text', text: value } }] };
  }
  if (Array.isArray(value)) return { ...described, messages: value as readonly PromptMessage[] };
  if (typeof value !== 'object' || value === null) {
    throw new TypeError(`Prompt ${name} returned ${value}; return a string, messages, or { messages }`);
  }
  if ('role' in value) return { ...described, messages: [value as PromptMessage] };
  return { ...described, ...(value as PromptResult) };
}

/** Clients would reject the whole result, and not say why. */
function requireMessages(name: string, messages: readonly PromptMessage[]): void {
  if (!Array.isArray(messages)) throw new TypeError(`Prompt ${name}: "messages" of its result must be a list`);
  for (const [i, message] of messages.entries()) {
    const { role, content } = (message ?? {}) as Partial<PromptMessage>;
    const hasContent = typeof content === 'object' && content !== null && typeof content.type === 'string';
    if ((role === 'user' || role === 'assistant') && hasContent) continue;
    throw new TypeError(
      `Prompt ${name}: message ${i} needs the role "user" or "assistant", and a content such as { type: "text", text: "…" }`,
    );
  }
}
