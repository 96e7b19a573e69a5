// The features of a server as a gateway has them: each passes a request on to the upstream that an item belongs to.

import type { ToolCallOptions } from '../../client/index.ts';
import { RelayedResult } from '../../engine/calls/relayed-result.ts';
import type { Context } from '../../engine/context.ts';
import type {
  Completion,
  CompletionRef,
  JsonObject,
  PromptResult,
  ReadResult,
  Tool,
  ToolResult,
} from '../../protocol/model.ts';
import { overrideArguments } from '../names/index.ts';
import type { UpstreamConnection } from '../upstreams/connection.ts';
import { callerKeys } from '../upstreams/isolation.ts';
import { notAskedText, toolFailure, toWireError } from './failures.ts';
import { type Relayed, type RelayedRequest, type RelayTarget, relay } from './relay.ts';
import type { RelayOptions } from './relay-call.ts';
import {
  checkCompletion,
  type ExposeUri,
  mapOtherResult,
  mapPromptResult,
  mapReadResult,
  mapToolResult,
  withPlainMeta,
} from './results.ts';
import { decidesOnTasks, requiresTask } from './task-rules.ts';

/** Where the requests of an item go, and how URIs in results are shown. */
export interface FeatureTarget extends RelayTarget {
  readonly expose: ExposeUri;
}

type Arguments = JsonObject;

/** Calls a tool of an upstream. `name`: the upstream's own. */
export function callTool(
  target: FeatureTarget,
  name: string,
  tool: Tool,
  args: Arguments,
  ctx: Context,
): Promise<ToolResult> {
  const { override } = target.upstream.config;
  const sent = Object.hasOwn(override, name) ? overrideArguments(args, override[name]) : args;
  return relay(target, ctx, new ToolRequest(target, name, tool, sent, ctx));
}

/** Connects to an upstream, so that its user signs in. */
export function signIn(target: RelayTarget, ctx: Context): Promise<ToolResult> {
  const { config, slug } = target.upstream;
  const text = `You are signed in to ${slug}. Its tools are in the list of tools now.`;
  return relay<ToolResult, ToolResult>(target, ctx, {
    isRepeatable: true,
    send: () => Promise.resolve({ content: [{ type: 'text', text }] }),
    finish: ({ value }) => value,
    failed: (error) => toolFailure(error, config, ctx),
  });
}

/** A class: one object for each call instead of one with three functions. */
class ToolRequest implements RelayedRequest<ToolResult, ToolResult> {
  readonly #target: FeatureTarget;
  readonly #name: string;
  readonly #args: Arguments | undefined;
  readonly #ctx: Context;
  readonly isRepeatable: boolean;
  task: RelayOptions['task'];

  constructor(target: FeatureTarget, name: string, { annotations }: Tool, args: Arguments | undefined, ctx: Context) {
    this.#target = target;
    this.#name = name;
    this.#args = args;
    this.#ctx = ctx;
    this.isRepeatable = annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
    // A task of the gateway is a task of the upstream too, so it outlives connections on both sides.
    this.task = ctx.mayDetach ? 'prefer' : decidesOnTasks(target.upstream.facts) ? 'never' : undefined;
  }

  send(connection: UpstreamConnection, options: ToolCallOptions): Promise<ToolResult> {
    const reason = this.#target.upstream.whyWithheld(this.#name, connection);
    if (reason !== undefined) return Promise.resolve(failure(reason));
    return connection.client.callTool(this.#name, this.#args, options);
  }

  finish({ value, call, revision }: Relayed<ToolResult>): ToolResult {
    const { upstream, expose } = this.#target;
    const mapped = mapToolResult(value, expose);
    const clean = withPlainMeta(mapped);
    if (call.unavailable.length > 0) {
      const note = { type: 'text', text: notAskedText(upstream.slug, call.unavailable) } as const;
      return new RelayedResult({ ...clean, content: [...clean.content, note] });
    }
    const { resultText: text } = call;
    if (mapped !== value || text === undefined) return new RelayedResult(clean);
    return new RelayedResult(clean, { text, revision, meta: value._meta });
  }

  failed(error: unknown): ToolResult | Promise<ToolResult> {
    const ctx = this.#ctx;
    if (this.task === 'never' && requiresTask(error) && !ctx.inputEndsRun) {
      // The tool only runs as a task: the gateway waits for its result, for clients without tasks.
      this.task = undefined;
      return relay(this.#target, ctx, this);
    }
    const { upstream } = this.#target;
    upstream.failed(error, callerKeys(ctx));
    return toolFailure(error, upstream.config, ctx);
  }
}

function failure(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Reads a resource. `exposed`: the URI as the client named it. */
export function readResource(target: FeatureTarget, uri: string, exposed: string, ctx: Context): Promise<ReadResult> {
  const isPrivate = target.upstream.config.isolation !== 'shared';
  return relay<ReadResult, ReadResult>(target, ctx, {
    isRepeatable: true,
    send: ({ client }, options) => client.readResource(uri, options),
    finish: ({ value }) => mapReadResult(value, target.expose, isPrivate),
    failed: throwTo(target, ctx, exposed),
  });
}

export function getPrompt(
  target: FeatureTarget,
  name: string,
  args: Readonly<Record<string, string>>,
  ctx: Context,
): Promise<PromptResult> {
  const given = Object.keys(args).length === 0 ? undefined : args;
  return relay<PromptResult, PromptResult>(target, ctx, {
    isRepeatable: true,
    send: ({ client }, options) => client.getPrompt(name, given, options),
    finish: ({ value }) => mapPromptResult(value, target.expose),
    failed: throwTo(target, ctx),
  });
}

export function complete(
  target: RelayTarget,
  ref: CompletionRef,
  argument: { readonly name: string; readonly value: string },
  known: Readonly<Record<string, string>>,
  ctx: Context,
): Promise<Completion> {
  const context = Object.keys(known).length === 0 ? {} : { context: known };
  return relay<Completion, Completion>(target, ctx, {
    isRepeatable: true,
    send: ({ client }, options) => client.complete({ ref, argument, ...context }, options),
    finish: ({ value }) => checkCompletion(value),
    failed: throwTo(target, ctx),
  });
}

/** Passes a request of an extension on, as it is. */
export function requestOther(
  target: RelayTarget,
  method: string,
  { _meta, ...params }: Arguments,
  ctx: Context,
): Promise<Arguments> {
  return relay<Arguments, Arguments>(target, ctx, {
    isRepeatable: false,
    send: ({ client }, options) => client.request(method, params, options),
    finish: ({ value }) => mapOtherResult(value),
    failed: throwTo(target, ctx),
  });
}

/** Throws what the client gets for a failure. `uri`: of a resource, as the client named it. */
function throwTo({ upstream }: RelayTarget, ctx: Context, uri?: string): (error: unknown) => never {
  return (error) => {
    upstream.failed(error, callerKeys(ctx));
    throw toWireError(error, upstream.config, ctx, uri);
  };
}
