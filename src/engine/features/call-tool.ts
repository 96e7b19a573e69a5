// tools/call: finds the tool, validates the arguments, runs the handler, validates the output.

import { declares, requiredCapabilities } from '../../protocol/abilities.ts';
import { wireErrors } from '../../protocol/errors.ts';
import type { JsonObject, ToolResult } from '../../protocol/model.ts';
import { checkParamHeaders } from '../../protocol/revisions/index.ts';
import { formatIssues, type Issue, type Validation } from '../../schema/index.ts';
import { isThenable } from '../calls/run-call.ts';
import type { ToolEntry } from '../catalog/catalog-entry.ts';
import type { Call, Feature } from '../contract.ts';
import { HandlerReturn, InputRequired } from '../input-requests/input-required.ts';
import { resumeFromState } from '../input-requests/load.ts';
import { rerunWithInput } from '../input-requests/rerun.ts';
import { throwIfSettled } from '../lazy-feature.ts';
import { lostPart } from './not-json.ts';
import { toFailureResult, toolFailure, toolOutcome } from './tool-outcome.ts';
import { toToolResult } from './tool-result.ts';

export const callTool: Feature<ToolResult> = {
  ...toolOutcome,
  run(call) {
    const name = call.params['name'] as string;
    const entry = call.catalog.tools.get(name);
    if (entry === undefined || (entry.visible !== undefined && !entry.visible(call.peer.principal))) {
      return unknownTool(call, name);
    }
    call.target = entry;
    const { tasks } = call.server;
    if (tasks === undefined || call.task !== undefined) return prepare(call, entry);
    if (entry.task === undefined && call.params['task'] === undefined) return prepare(call, entry);
    const { loaded } = tasks;
    if (loaded !== undefined) return loaded.admit(call, entry) ?? prepare(call, entry);
    return tasks.load().then((ready) => ready.admit(call, entry) ?? prepare(call, entry));
  },
};

/** Checks everything that can be wrong with a call before its arguments are validated and its handler runs. */
function prepare(call: Call, entry: ToolEntry): ToolResult | Promise<ToolResult> {
  const given = call.params['arguments'] as JsonObject | undefined;
  if (given === undefined && call.codec.rules.missingArguments === 'error') {
    return toolFailure(call, 'No arguments provided', 'missingArguments');
  }
  const args = given ?? {};
  if (call.header !== undefined && call.session === undefined && !call.isRedirected) {
    const mismatch = checkParamHeaders(entry.headerParams(), args, call.header);
    if (mismatch !== undefined) throw mismatch;
  }
  const missing = entry.definition.needs === undefined ? undefined : missingCapabilityResult(call, entry);
  if (missing !== undefined) return missing;
  const resumed = resumeFromState(call, entry.definition.singleUse);
  return resumed === undefined ? validate(call, entry, args) : resumed.then(() => validate(call, entry, args));
}

function unknownTool(call: Call, name: string): ToolResult {
  const error = wireErrors.unknownTool(name);
  if (call.codec.rules.unknownTool === 'result') return toolFailure(call, error.message, 'unknownTool');
  throw error;
}

/** The failure if the client lacks a capability that the tool needs; thrown on revisions that have an error code for it. */
function missingCapabilityResult(call: Call, { definition }: ToolEntry): ToolResult | undefined {
  const missing = definition.needs?.filter((each) => !declares(call.capabilities, each)) ?? [];
  if (missing.length === 0) return undefined;
  const error = wireErrors.missingCapability(requiredCapabilities(missing, call.capabilities));
  if (call.codec.inputRequests === 'retry' || requestsTask(call)) throw error;
  return toolFailure(call, error.message, 'handler');
}

/** The client waits for a task, so what is no task has to be an error (2025-11-25, Tasks, "Result Retrieval"). */
function requestsTask({ codec, params, task }: Call): boolean {
  return codec.dialect.tasks === 'requested' && task !== undefined && params['task'] !== undefined;
}

function validate(call: Call, entry: ToolEntry, args: unknown): ToolResult | Promise<ToolResult> {
  const { validator } = entry.input;
  if (validator.check !== undefined) {
    const issues = validator.check(args);
    return issues === undefined ? run(call, entry, args) : invalid(call, entry, args, issues);
  }
  const validation = validator.validate(args);
  if (validation instanceof Promise) return validation.then((settled) => runIfValid(call, entry, args, settled));
  return runIfValid(call, entry, args, validation);
}

function runIfValid(
  call: Call,
  entry: ToolEntry,
  args: unknown,
  validation: Validation,
): ToolResult | Promise<ToolResult> {
  return validation.ok ? run(call, entry, validation.value) : invalid(call, entry, args, validation.issues);
}

function invalid(call: Call, entry: ToolEntry, args: unknown, issues: readonly Issue[]): ToolResult {
  const explanation = entry.definition.explain?.(issues, args);
  if (call.codec.invalidArguments === 'result' && !requestsTask(call))
    return toolFailure(call, explanation ?? formatIssues(issues), 'arguments');
  throw explanation === undefined
    ? wireErrors.invalidArguments(entry.key, formatIssues(issues))
    : wireErrors.explainedArguments(explanation);
}

function run(call: Call, entry: ToolEntry, args: unknown): ToolResult | Promise<ToolResult> {
  throwIfSettled(call);
  if (call.task === undefined) return runHandler(call, entry, args);
  return call.task.run(() => runHandler(call, entry, args));
}

function runHandler(call: Call, entry: ToolEntry, args: unknown): ToolResult | Promise<ToolResult> {
  let returned: unknown;
  try {
    returned = entry.definition.run(args as never, call.ctx);
  } catch (error) {
    return toFailureResult(call, error);
  }
  if (isThenable(returned)) {
    return Promise.resolve(returned).then(
      (value) => settle(call, entry, args, value),
      (error: unknown) => toFailureResult(call, error),
    );
  }
  return settle(call, entry, args, returned);
}

function settle(call: Call, entry: ToolEntry, args: unknown, returned: unknown): ToolResult | Promise<ToolResult> {
  if (returned instanceof HandlerReturn) {
    if (!(returned instanceof InputRequired)) return returned as unknown as ToolResult;
    return rerunWithInput(call, returned, () => entry.definition.run(args as never, call.ctx)).then(
      (value) => settle(call, entry, args, value),
      (error: unknown) => toFailureResult(call, error),
    );
  }
  const { textCopy } = entry.definition;
  let result: ToolResult;
  try {
    result = toToolResult(returned, entry.output !== undefined, call.codec.rules.jsonIndent, textCopy);
  } catch (error) {
    return toFailureResult(call, error);
  }
  warnOfLostParts(call, entry, result);
  if (entry.output === undefined || result.isError === true) return result;
  const check = (validation: Validation): ToolResult => {
    if (validation.ok) return result;
    const wrong =
      returned === undefined
        ? 'The tool returned nothing, but it has an output schema: a "return" is missing in its handler'
        : `The tool returned a value that does not match its output schema: ${formatIssues(validation.issues)}`;
    return toFailureResult(call, new Error(wrong));
  };
  const validation = entry.output.validator.validate(result.structuredContent);
  return validation instanceof Promise ? validation.then(check) : check(validation);
}

const warned = new WeakSet<ToolEntry>();

/** JSON silently makes `{}` of a promise, a Map or an error. Logged once for each tool. */
function warnOfLostParts(call: Call, entry: ToolEntry, { content, structuredContent }: ToolResult): void {
  if (structuredContent === undefined || content[0]?.type !== 'text' || !content[0].text.includes('{}')) return;
  if (warned.has(entry)) return;
  const lost = lostPart(structuredContent);
  if (lost === undefined) return;
  warned.add(entry);
  call.server.logger?.warn(`tool ${entry.key} returned ${lost}`);
}
