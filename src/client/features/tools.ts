// Tools: listing and calling them, and what a list says about a tool: output schemas, mirrored headers,
// whether a call may be repeated.

import { isObject } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import type { JsonObject, Tool, ToolResult } from '../../protocol/model.ts';
import { type HeaderParam, headerParams } from '../../protocol/revisions/index.ts';
import { compileSchema, formatIssues, SchemaError, type Validation, type Validator } from '../../schema/index.ts';
import { OutgoingCall } from '../calls/outgoing-call.ts';
import { clientErrors } from '../errors.ts';
import { assertCallOptions } from '../known-call-options.ts';
import type { ReadOptions, StartTaskOptions, ToolCallOptions } from '../options.ts';
import { type FeatureContext, requestsTasks, requireOffered } from './feature-context.ts';
import { ListReader, type Page } from './lists.ts';
import { requireArguments } from './method-arguments.ts';

/** What is checked about a call. */
export interface ToolSettings {
  readonly validateOutput: boolean;
  readonly validateArguments: boolean;
}

/** What is known of a tool since its list was fetched. Schemas are compiled when they are first needed. */
interface FetchedTool {
  readonly tool: Tool;
  readonly headerParams: readonly HeaderParam[];
  output?: Validator | false;
  input?: Validator | false;
}

const none: readonly HeaderParam[] = [];

/** The tools of one server. */
export class Tools {
  readonly #context: FeatureContext;
  readonly #settings: ToolSettings;
  /** Brings a call that became a task to its end. */
  readonly #onTask: (call: OutgoingCall, created: JsonObject) => Promise<unknown>;
  readonly #lists: ListReader<Tool>;
  readonly #known = new Map<string, FetchedTool>();
  /** The whole list was fetched and has not changed since. */
  #complete = false;

  constructor(
    context: FeatureContext,
    settings: ToolSettings,
    onTask: (call: OutgoingCall, created: JsonObject) => Promise<unknown>,
  ) {
    this.#context = context;
    this.#settings = settings;
    this.#onTask = onTask;
    const kind = {
      row: methods.listTools,
      key: 'tools',
      strings: ['name'],
      readBy: ['listTools', 'pageTools'],
    } as const;
    this.#lists = new ListReader<Tool>(context, kind, (tool) => this.#remember(tool));
  }

  page(cursor?: string, options?: ReadOptions): Promise<Page<Tool>> {
    return this.#lists.page(cursor, options);
  }

  async list(options?: ReadOptions): Promise<Tool[]> {
    const tools = await this.#lists.all(options);
    this.#complete = true;
    return tools;
  }

  call(name: string, args: JsonObject | undefined, options: ToolCallOptions | undefined): Promise<ToolResult> {
    try {
      requireArguments('callTool', name, args);
      assertCallOptions('callTool', options, 'tool');
      const mustKnow =
        !this.#complete && !this.#known.has(name) && options?.task !== 'never' && requestsTasks(this.#context);
      if (mustKnow || this.#settings.validateArguments) return this.#callKnown(name, args, options);
      return this.#begin(name, args, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Calls a tool as a task, where the client decides; `onTask` gets the task, if there is one. */
  async start<T>(
    name: string,
    args: JsonObject | undefined,
    options: StartTaskOptions,
    onTask: (call: OutgoingCall, created: JsonObject) => T,
  ): Promise<T | ToolResult> {
    const requested = requestsTasks(this.#context);
    if (requested || this.#settings.validateArguments) await this.#check(name, args);
    const call = this.#prepare(name, args, options);
    call.onTask = onTask;
    if (requested) {
      const { tool } = this.#known.get(name) ?? {};
      if (tool !== undefined && !supportsTasks(tool)) throw clientErrors.notOffered(`tool "${name}" as a task`);
      call.requestTask(options.ttlMs);
    }
    return this.#context.caller.start<T | ToolResult>(call);
  }

  /** The list is out of date: its headers and schemas must not be relied on. */
  changed(): void {
    this.#known.clear();
    this.#complete = false;
  }

  #prepare(name: string, args: JsonObject | undefined, options: ToolCallOptions | undefined): OutgoingCall {
    requireOffered(this.#context, methods.callTool);
    const known = this.#known.get(name);
    const given = options?.argumentsText;
    const text = given !== undefined ? onOneLine(given) : args === undefined ? undefined : argumentsText(name, args);
    const fields =
      text === undefined ? `"name":${JSON.stringify(name)}` : `"name":${JSON.stringify(name)},"arguments":${text}`;
    const checked = known?.tool.outputSchema !== undefined && this.#settings.validateOutput;
    const call = new OutgoingCall(
      methods.callTool,
      fields,
      checked ? (result) => this.#checkOutput(known, toToolResult(result)) : toToolResult,
      options,
    );
    call.idempotent = options?.idempotent ?? isIdempotent(known?.tool);
    if (options?.task === 'never') call.withoutTasks = true;
    else call.onTask = this.#onTask;
    call.addressed = { name, headerParams: known?.headerParams ?? none, args: args ?? {} };
    if (this.#context.latest.mirrors) call.onHeaderMismatch = this.#refreshHeaders;
    return call;
  }

  /** A call for which the list of tools must be known: to check arguments, or to request a task where the tool has it. */
  async #callKnown(
    name: string,
    args: JsonObject | undefined,
    options: ToolCallOptions | undefined,
  ): Promise<ToolResult> {
    await this.#check(name, args);
    return this.#begin(name, args, options);
  }

  #begin(name: string, args: JsonObject | undefined, options: ToolCallOptions | undefined): Promise<ToolResult> {
    const call = this.#prepare(name, args, options);
    const execution = this.#known.get(name)?.tool.execution;
    if (execution !== undefined && requestsTasks(this.#context)) {
      const { taskSupport } = execution;
      const isPreferred = taskSupport === 'optional' && options?.task === 'prefer';
      if (isPreferred || (taskSupport === 'required' && options?.task !== 'never')) {
        call.requestTask(options?.taskTtlMs);
      }
    }
    return this.#context.caller.start<ToolResult>(call);
  }

  /** Fetches the list where the tool is not known, and validates the arguments if that is wanted. */
  async #check(name: string, args: JsonObject = {}): Promise<void> {
    if (!this.#known.has(name) && !this.#complete) await this.list();
    const known = this.#known.get(name);
    if (known === undefined || !this.#settings.validateArguments) return;
    const validator = this.#validator(known, 'input');
    if (validator === undefined) return;
    const validating = (async () => validator.validate(args))();
    const validation = await validating.catch((error: unknown): Validation => {
      if (!(error instanceof SchemaError)) throw error;
      this.#ignoreSchema(known, 'input', error);
      return { ok: true, value: args };
    });
    if (!validation.ok) throw clientErrors.invalidArguments(name, formatIssues(validation.issues));
  }

  /** The mirrored headers may be outdated: fetch the list again, then retry once. */
  #refreshHeaders = async (call: OutgoingCall): Promise<void> => {
    await this.list({ cache: 'refresh' });
    const { addressed } = call;
    if (addressed === undefined) return;
    call.addressed = { ...addressed, headerParams: this.#known.get(addressed.name)?.headerParams ?? none };
  };

  /** Remembers a tool of a list, or returns why it cannot be used. */
  #remember(tool: Tool): string | undefined {
    const { inputSchema } = tool;
    if (!isObject(inputSchema)) return 'inputSchema is missing';
    const params = this.#context.latest.mirrors ? headerParams(inputSchema) : none;
    // Calling it would send unpredictable headers (2026-07-28, Transports, "x-mcp-header").
    if (typeof params === 'string') {
      this.#known.delete(tool.name);
      return params;
    }
    if (this.#known.get(tool.name)?.tool !== tool) this.#known.set(tool.name, { tool, headerParams: params });
    return undefined;
  }

  #checkOutput(known: FetchedTool, result: ToolResult): ToolResult | Promise<ToolResult> {
    if (result.isError === true) return result;
    const { name } = known.tool;
    if (result.structuredContent === undefined) {
      throw clientErrors.invalidStructured(name, 'there is no structuredContent');
    }
    const validator = this.#validator(known, 'output');
    if (validator === undefined) return result;
    if (validator.check !== undefined) {
      const issues = validator.check(result.structuredContent);
      if (issues === undefined) return result;
      throw clientErrors.invalidStructured(name, formatIssues(issues));
    }
    const checkOutput = (validation: Validation): ToolResult => {
      if (validation.ok) return result;
      throw clientErrors.invalidStructured(name, formatIssues(validation.issues));
    };
    const validation = validator.validate(result.structuredContent);
    if (!(validation instanceof Promise)) return checkOutput(validation);
    return validation.then(checkOutput, (error: unknown) => {
      // Some schemas turn out to be of no use only when they are compiled, with the first value.
      if (!(error instanceof SchemaError)) throw error;
      this.#ignoreSchema(known, 'output', error);
      return result;
    });
  }

  #validator(known: FetchedTool, direction: 'input' | 'output'): Validator | undefined {
    const ready = known[direction];
    if (ready !== undefined) return ready === false ? undefined : ready;
    const { tool } = known;
    const schema = direction === 'input' ? tool.inputSchema : tool.outputSchema;
    try {
      const where = `tool "${tool.name}" ${direction}`;
      return (known[direction] = compileSchema(schema ?? {}, { direction, root: 'any', where }).validator);
    } catch (error) {
      this.#ignoreSchema(known, direction, error);
      return undefined;
    }
  }

  /** A schema that cannot be used is the server's error; calls need not fail for it. Logged once. */
  #ignoreSchema(known: FetchedTool, direction: 'input' | 'output', error: unknown): void {
    const { name } = known.tool;
    this.#context.logger.warn(`the ${direction} schema of a tool cannot be used`, { tool: name, error });
    known[direction] = false;
  }
}

function isIdempotent(tool: Tool | undefined): boolean {
  return tool?.annotations?.readOnlyHint === true || tool?.annotations?.idempotentHint === true;
}

/** A message over stdio is one line. Strings of JSON contain no line breaks, so these are between its values. */
function onOneLine(json: string): string {
  return /[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json;
}

function argumentsText(name: string, args: JsonObject): string {
  try {
    return JSON.stringify(args);
  } catch (cause) {
    throw clientErrors.invalidArguments(name, `they cannot be written as JSON (${(cause as Error).message})`);
  }
}

function supportsTasks({ execution }: Tool): boolean {
  return execution?.taskSupport === 'optional' || execution?.taskSupport === 'required';
}

/** The result of a tool, whichever response it came with. */
export function toToolResult(result: JsonObject): ToolResult {
  if (Array.isArray(result['content'])) return result as unknown as ToolResult;
  // Some servers leave the text copy out where there is structured content.
  if (result['content'] === undefined && 'structuredContent' in result) {
    return { ...(result as unknown as ToolResult), content: [] };
  }
  throw clientErrors.invalidResult(methods.callTool.name, '"content" is not an array');
}
