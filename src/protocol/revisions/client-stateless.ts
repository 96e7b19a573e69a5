// A client on stateless revisions: each request names its revision, the client and its capabilities, and a result may
// require input instead of being complete.

import { isObject } from '../json-rpc.ts';
import { metaKeys } from '../meta.ts';
import { methodRow } from '../methods.ts';
import type { Capabilities, Implementation, JsonObject } from '../model.ts';
import type { ClientCodec, DecodedResult, ListenFilter, RequestMeta, WireInputRequest } from './client-codec.ts';
import { join, metaMembers, requestWith, sharedMembers } from './client-codec-base.ts';
import { type ClientDialect, encodeCapabilities } from './client-dialects.ts';
import { pick } from './content.ts';
import { tasksExtension } from './extensions.ts';
import { encodeHeaderValue, type HeaderParam, headerText } from './headers.ts';

const complete = { kind: 'complete' } as const;
const task = { kind: 'task' } as const;

export function createClientStatelessCodec(
  dialect: ClientDialect,
  identity: Implementation,
  capabilities: Capabilities,
): ClientCodec {
  const { date, implementation } = dialect.shared;
  const envelopeWith = (declared: Capabilities): string =>
    JSON.stringify({
      [metaKeys.protocolVersion]: date,
      [metaKeys.clientInfo]: pick(identity, implementation),
      [metaKeys.clientCapabilities]: declared,
    }).slice(1, -1);
  const declared = encodeCapabilities(capabilities, dialect);
  const envelope = envelopeWith(withTasks(declared));
  const plainMeta = `"_meta":{${envelope}}`;
  let undeclared: string | undefined;
  const plain = (): string => (undeclared ??= envelopeWith(withoutTasks(declared)));
  /** Callers of a gateway declare few different sets, each of which is one object. */
  const ownEnvelopes = new WeakMap<Capabilities, { readonly [K in 'with' | 'without']?: string }>();
  const own = ({ capabilities: given = {}, withoutTasks: isPlain }: RequestMeta): string => {
    const key = isPlain === true ? 'without' : 'with';
    const known = ownEnvelopes.get(given);
    const ready = known?.[key];
    if (ready !== undefined) return ready;
    const encoded = encodeCapabilities(given, dialect);
    const text = envelopeWith(isPlain === true ? withoutTasks(encoded) : withTasks(encoded));
    ownEnvelopes.set(given, { ...known, [key]: text });
    return text;
  };
  return {
    ...sharedMembers(dialect),
    opening: 'discover',
    inputRequests: 'retry',
    declaresPerRequest: true,
    http: { headers: ['MCP-Protocol-Version', date], mirrored: true, sessions: false, closingCancels: true },
    request(id, method, fields, meta) {
      if (meta === undefined) return requestWith(id, method, join(fields, plainMeta));
      const rest = meta.capabilities !== undefined ? own(meta) : meta.withoutTasks === true ? plain() : envelope;
      return requestWith(id, method, join(fields, `"_meta":{${join(metaMembers(meta, true), rest)}}`));
    },
    openingFields: () => '',
    decodeResult: (result) => (result['resultType'] === 'complete' ? complete : readUnusual(result)),
    headers: mirror,
    listenFields: encodeFilter,
  };
}

/** A result without a type is complete: the server is older than it claims (2026-07-28, Versioning). */
function readUnusual(result: JsonObject): DecodedResult {
  const type = result['resultType'];
  if (type === undefined) return complete;
  if (type === 'task') return task;
  if (type !== 'input_required') return { kind: 'invalid', why: `resultType ${JSON.stringify(type)} is not known` };
  const { inputRequests = {}, requestState } = result;
  if (requestState !== undefined && typeof requestState !== 'string') {
    return { kind: 'invalid', why: 'requestState is not a string' };
  }
  const requests = isObject(inputRequests) ? readInputRequests(inputRequests) : 'inputRequests is not an object';
  if (typeof requests === 'string') return { kind: 'invalid', why: requests };
  if (Object.keys(requests).length === 0 && requestState === undefined) {
    return { kind: 'invalid', why: 'input_required has neither inputRequests nor requestState' };
  }
  return { kind: 'input-required', requests, state: requestState };
}

/** The input requests of a result or a task; a string says what is wrong with them. */
export function readInputRequests(inputRequests: JsonObject): Readonly<Record<string, WireInputRequest>> | string {
  const requests: [string, WireInputRequest][] = [];
  for (const [key, inputRequest] of Object.entries(inputRequests)) {
    const params = isObject(inputRequest) ? (inputRequest['params'] ?? {}) : undefined;
    if (!isObject(inputRequest) || typeof inputRequest['method'] !== 'string' || !isObject(params)) {
      return `inputRequests.${key} is not a request`;
    }
    requests.push([key, { method: inputRequest['method'], params }]);
  }
  return Object.fromEntries(requests);
}

/** Tasks are declared unless a call opts out: `callTool` handles them. */
function withTasks(declared: Capabilities): Capabilities {
  const { extensions } = declared;
  return { ...declared, extensions: { ...(isObject(extensions) ? extensions : {}), [tasksExtension]: {} } };
}

function withoutTasks(declared: Capabilities): Capabilities {
  const { extensions, ...others } = declared;
  if (!isObject(extensions)) return declared;
  const { [tasksExtension]: _, ...rest } = extensions;
  return { ...others, extensions: rest };
}

function mirror(
  method: string,
  name: string | undefined,
  params: readonly HeaderParam[],
  args: JsonObject,
): readonly string[] {
  const headers = ['Mcp-Method', method];
  if (name !== undefined && methodRow(method)?.nameIn !== undefined) headers.push('Mcp-Name', encodeHeaderValue(name));
  for (const { header, path } of params) {
    let value: unknown = args;
    for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    // A value that is absent, null or not primitive is not mirrored; the server validates it in the body.
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    headers.push(`Mcp-Param-${header}`, encodeHeaderValue(headerText(value)));
  }
  return headers;
}

function encodeFilter({ tools, prompts, resources, uris, taskIds }: ListenFilter): string {
  const notifications = {
    ...(tools === true ? { toolsListChanged: true } : {}),
    ...(prompts === true ? { promptsListChanged: true } : {}),
    ...(resources === true ? { resourcesListChanged: true } : {}),
    ...(uris === undefined || uris.length === 0 ? {} : { resourceSubscriptions: uris }),
    ...(taskIds === undefined ? {} : { taskIds }),
  };
  return `"notifications":${JSON.stringify(notifications)}`;
}
