// completion/complete: suggestions for an argument of a prompt or a variable of a resource template.

import { wireErrors } from '../../protocol/errors.ts';
import type { Completion, CompletionRef } from '../../protocol/model.ts';
import { isThenable } from '../calls/run-call.ts';
import type { Call, Feature } from '../contract.ts';
import type { Completer } from '../definitions.ts';

/** A response may contain at most this many values (all revisions, Completion). */
const maxValues = 100;

/** Checked by `methods.complete`. */
interface CompleteParams {
  readonly ref: CompletionRef;
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> };
}

const nothing: Completion = { values: [], total: 0, hasMore: false };

export const complete: Feature<Completion> = {
  duration: 'handler',
  run(call) {
    const { ref, argument, context } = call.params as unknown as CompleteParams;
    const completer = find(call, ref, argument.name);
    if (completer === undefined) return nothing;
    const suggested = completer(argument.value, context?.arguments ?? {}, call.ctx);
    return isThenable(suggested)
      ? Promise.resolve(suggested).then((each) => toCompletion(each as Suggested, argument.name))
      : toCompletion(suggested as Suggested, argument.name);
  },
  encode: (completion, { codec }) => codec.completion(completion),
};

type Suggested = readonly string[] | Completion;

function find(call: Call, ref: CompletionRef, argument: string): Completer | undefined {
  const { prompts, resourceTemplates, resources } = call.catalog;
  const { principal } = call.peer;
  if (ref.type === 'ref/prompt') {
    const entry = prompts.get(ref.name);
    if (entry === undefined || entry.visible?.(principal) === false) throw wireErrors.unknownPrompt(ref.name);
    const args = entry.definition.args ?? {};
    if (!Object.hasOwn(args, argument))
      throw wireErrors.invalidParams(`prompt ${ref.name} has no argument ${argument}`);
    return args[argument]?.complete;
  }
  const entry = resourceTemplates.get(ref.uri);
  if (entry === undefined || entry.visible?.(principal) === false) {
    const single = resources.get(ref.uri);
    if (single !== undefined && single.visible?.(principal) !== false) return undefined;
    throw wireErrors.resourceNotFound(ref.uri);
  }
  const completers = entry.definition.complete as Readonly<Record<string, Completer>> | undefined;
  return completers !== undefined && Object.hasOwn(completers, argument) ? completers[argument] : undefined;
}

function toCompletion(suggested: Suggested, argument: string): Completion {
  const completion: Completion = Array.isArray(suggested) ? { values: suggested } : (suggested as Completion);
  const values: Completion['values'] | undefined = completion?.values;
  if (!Array.isArray(values) || !values.every((each) => typeof each === 'string')) {
    throw new TypeError(`complete of ${JSON.stringify(argument)} must return a list of strings, or { values, total }`);
  }
  // With more than these, the number of all is not known.
  const total = completion.total ?? (completion.hasMore === true ? undefined : values.length);
  return {
    values: values.slice(0, maxValues),
    ...(total === undefined ? {} : { total }),
    hasMore: values.length > maxValues || (completion.hasMore ?? (total !== undefined && total > values.length)),
  };
}
