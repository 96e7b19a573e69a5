// The tool of an operation: what clients see of it, and a call of it.

import { cleanText, cleanValue, textLimits } from '../../common/hygiene.ts';
import { UserError } from '../../common/user-error.ts';
import type { Context } from '../../engine/context.ts';
import type { ToolDefinition } from '../../engine/definitions.ts';
import { callerKey } from '../../protocol/callers/caller-budget.ts';
import { CallerTurns } from '../../protocol/callers/caller-turns.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject, ToolAnnotations } from '../../protocol/model.ts';
import { NetworkError } from '../../security/network/errors.ts';
import type { Fetcher } from '../../security/network/fetcher.ts';
import type { OpenApiDocument } from './document.ts';
import type { OpenApiLimits } from './limits.ts';
import { planArguments } from './names.ts';
import { type ApiOperation, type OperationMethod, titleOf } from './operations.ts';
import type { Parameter, RequestBody } from './parameters.ts';
import { type ArgumentPlan, buildRequest, type FixedParts, type OperationRequest } from './request.ts';
import { toResult } from './response.ts';
import { SchemaConverter } from './schemas.ts';

/** What the tools of one API have in common. */
export interface Api {
  readonly document: OpenApiDocument;
  readonly fetcher: Fetcher;
  readonly limits: OpenApiLimits;
  /** Requests at a time. */
  readonly turns: CallerTurns;
  /** Removes credentials from a text. */
  readonly hide: (text: string) => string;
}

/** Requests at a time, of all callers and of each. Stops calls from filling the memory with responses, and the API with requests. */
export const createTurns = (): CallerTurns => new CallerTurns(32, 8);

export function toolOf(api: Api, operation: ApiOperation, fixed: FixedParts): ToolDefinition {
  const plan = planArguments(operation, (parameter) => isFixed(parameter, fixed));
  const title = cleanText(operation.summary ?? '', 'line', textLimits.maxTitleChars);
  return {
    ...(title === '' ? {} : { title }),
    description: descriptionOf(operation),
    input: inputOf(api.document, operation, plan) as never,
    annotations: annotationsOf[operation.method],
    run: (args, ctx) => call(api, operation, () => buildRequest(operation, plan, args as JsonObject, fixed), ctx),
  };
}

/** The operator has set it, or it is how the operator authenticates. */
function isFixed({ in: place, name }: Parameter, { headers, query, cookies }: FixedParts): boolean {
  if (place === 'header') return Object.hasOwn(headers, name.toLowerCase());
  return Object.hasOwn(place === 'query' ? query : place === 'cookie' ? cookies : {}, name);
}

function descriptionOf(operation: ApiOperation): string {
  const { summary, description, isDeprecated } = operation;
  const given = [...new Set([summary, description])].filter((each) => each !== undefined && each.trim() !== '');
  const texts = [...(given.length === 0 ? [titleOf(operation)] : given), ...(isDeprecated ? ['Deprecated.'] : [])];
  return cleanText(texts.join('\n\n'), 'strip', textLimits.maxDescriptionChars);
}

/** Only what the method says by its definition in HTTP. */
const annotationsOf: Readonly<Record<OperationMethod, ToolAnnotations>> = {
  get: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
  put: { readOnlyHint: false, idempotentHint: true, openWorldHint: true },
  post: { readOnlyHint: false, openWorldHint: true },
  delete: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  patch: { readOnlyHint: false, openWorldHint: true },
};

function inputOf(document: OpenApiDocument, { body }: ApiOperation, plan: ArgumentPlan): JsonObject {
  const converter = new SchemaConverter(document);
  const convert = (schema: unknown, description: string | undefined): unknown => {
    const converted = converter.convert(withoutReference(document, schema));
    // Beside a reference as well, which does not say what this argument is for.
    return description === undefined || typeof converted === 'boolean' ? converted : { ...converted, description };
  };
  const properties: [string, unknown][] = plan.parameters.map(({ argument, parameter }) => [
    argument,
    convert(parameter.schema, parameter.description),
  ]);
  const required = plan.parameters.filter(({ parameter }) => parameter.required).map(({ argument }) => argument);
  if (body !== undefined) {
    properties.push([plan.body, convert(bodySchema(body), body.description)]);
    if (body.required) required.push(plan.body);
  }
  const definitions = converter.definitions();
  return cleanValue({
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
    ...(definitions === undefined ? {} : { $defs: definitions }),
  }) as JsonObject;
}

/** What a reference leads to, if there is nothing else: people and models see the properties of an argument at once. */
function withoutReference(document: OpenApiDocument, schema: unknown): unknown {
  const isReference = isObject(schema) && typeof schema['$ref'] === 'string' && Object.keys(schema).length === 1;
  return isReference ? document.resolve(schema) : schema;
}

/** Text and bytes are strings, whatever the document says about what is in them. */
function bodySchema({ kind, schema }: RequestBody): unknown {
  if (kind === 'text') return { type: 'string' };
  if (kind === 'binary') return { type: 'string', contentEncoding: 'base64' };
  return schema ?? (kind === 'json' ? {} : { type: 'object' });
}

async function call(api: Api, operation: ApiOperation, build: () => OperationRequest, { principal, signal }: Context) {
  const { fetcher, limits, turns, hide } = api;
  const { url, init } = build();
  const title = titleOf(operation);
  return turns.run(callerKey({ principal }), signal, async () => {
    try {
      const { maxResponseBytes: maxBytes, timeoutMs } = limits;
      const response = await fetcher.fetch(url, { ...init, maxBytes, timeoutMs, signal });
      return await toResult(title, response, hide);
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error;
      const advice = error.code === 'NETWORK_TOO_LARGE' ? '. Ask for less, such as one page' : '';
      throw new UserError(`${title} failed: ${hide(error.message)}${advice}`, { cause: error });
    }
  });
}
