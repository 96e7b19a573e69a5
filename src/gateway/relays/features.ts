// The features of a server as a gateway has them: each passes a request on to the upstream that an item belongs to.

import type { Context } from '../../engine/context.ts';
import { RelayedResult } from '../../engine/relayed-result.ts';
import type { Completion, CompletionRef, PromptResult, ReadResult, Tool, ToolResult } from '../../protocol/model.ts';
import { overrideArguments } from '../names/index.ts';
import { linksText, toolFailure, toWireError } from './failures.ts';
import { type Relayed, type RelayTarget, relay } from './relay.ts';
import type { RelayOptions } from './relay-call.ts';
import { type ExposeUri, mapPromptResult, mapReadResult, mapToolResult, withPlainMeta } from './results.ts';
import { decidesOnTasks, requiresTask } from './task-rules.ts';

/** Where the requests of an item go, and how URIs in results are shown. */
export interface FeatureTarget extends RelayTarget {
  readonly expose: ExposeUri;
}

type Arguments = { readonly [key: string]: unknown };

/** Calls a tool of an upstream. `name`: the upstream's own. */
export async function callTool(
  target: FeatureTarget,
  name: string,
  tool: Tool,
  args: Arguments,
  ctx: Context,
): Promise<ToolResult> {
  const { upstream, expose } = target;
  const { config, slug } = upstream;
  const { override } = config;
  const sent = Object.hasOwn(override, name) ? overrideArguments(args, override[name]) : args;
  const isRepeatable = tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true;
  try {
    const send = (task: RelayOptions['task']) =>
      relay(target, ctx, { isRepeatable, task }, ({ client }, options) => {
        const reason = upstream.withheld.get(name);
        if (reason !== undefined) return Promise.resolve<ToolResult>(failure(reason));
        return client.callTool(name, sent, options);
      });
    // A task of the gateway is a task of the upstream too, so it outlives connections on both sides.
    if (ctx.mayDetach) return toResult(await send('prefer'), slug, expose);
    if (!decidesOnTasks(upstream.lists)) return toResult(await send(undefined), slug, expose);
    const inline = send('never').catch((error: unknown) => {
      // The tool only runs as a task: the gateway waits for its result, for clients without tasks.
      if (!requiresTask(error) || ctx.inputEndsRun) throw error;
      return send(undefined);
    });
    return toResult(await inline, slug, expose);
  } catch (error) {
    upstream.failed(error);
    return toolFailure(error, slug, ctx);
  }
}

function toResult({ value, call, revision }: Relayed<ToolResult>, slug: string, expose: ExposeUri): ToolResult {
  const mapped = mapToolResult(value, expose);
  const links = call.unavailable.flatMap((request) => (request.kind === 'elicitUrl' ? [request] : []));
  if (links.length > 0) {
    const note = { type: 'text', text: linksText(slug, links) } as const;
    return new RelayedResult(withPlainMeta({ ...mapped, content: [...mapped.content, note] }));
  }
  const { resultText: text } = call;
  const clean = withPlainMeta(mapped);
  if (mapped !== value || text === undefined) return new RelayedResult(clean);
  return new RelayedResult(clean, { text, revision, meta: value._meta });
}

function failure(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Reads a resource. `exposed`: the URI as the client named it. */
export async function readResource(
  target: FeatureTarget,
  uri: string,
  exposed: string,
  ctx: Context,
): Promise<ReadResult> {
  try {
    const { value } = await relay(target, ctx, { isRepeatable: true }, ({ client }, options) =>
      client.readResource(uri, options),
    );
    return mapReadResult(value, target.expose, target.upstream.config.isolation !== 'shared');
  } catch (error) {
    target.upstream.failed(error);
    throw toWireError(error, target.upstream.slug, exposed);
  }
}

export async function getPrompt(
  target: FeatureTarget,
  name: string,
  args: Readonly<Record<string, string>>,
  ctx: Context,
): Promise<PromptResult> {
  const given = Object.keys(args).length === 0 ? undefined : args;
  try {
    const { value } = await relay(target, ctx, { isRepeatable: true }, ({ client }, options) =>
      client.getPrompt(name, given, options),
    );
    return mapPromptResult(value, target.expose);
  } catch (error) {
    target.upstream.failed(error);
    throw toWireError(error, target.upstream.slug);
  }
}

export async function complete(
  target: RelayTarget,
  ref: CompletionRef,
  argument: { readonly name: string; readonly value: string },
  known: Readonly<Record<string, string>>,
  ctx: Context,
): Promise<Completion> {
  const context = Object.keys(known).length === 0 ? {} : { context: known };
  try {
    const { value } = await relay(target, ctx, { isRepeatable: true }, ({ client }, options) =>
      client.complete({ ref, argument, ...context }, options),
    );
    return value;
  } catch (error) {
    target.upstream.failed(error);
    throw toWireError(error, target.upstream.slug);
  }
}

/** Passes a request of an extension on, as it is. */
export async function requestOther(
  target: RelayTarget,
  method: string,
  { _meta, ...params }: Arguments,
  ctx: Context,
): Promise<Arguments> {
  try {
    const { value } = await relay(target, ctx, { isRepeatable: false }, ({ client }, options) =>
      client.request(method, params, options),
    );
    const { resultType: _type, ...result } = value as Arguments & { readonly _meta?: ToolResult['_meta'] };
    return withPlainMeta(result);
  } catch (error) {
    target.upstream.failed(error);
    throw toWireError(error, target.upstream.slug);
  }
}
