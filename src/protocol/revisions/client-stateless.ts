// A client on stateless revisions: each request names its revision, the client and its capabilities, and a result may
// require input instead of being complete.

import { isObject } from '../json-rpc.ts';
import { metaKeys } from '../meta.ts';
import { methodRow } from '../methods.ts';
import type { Capabilities, Implementation } from '../model.ts';
import type { ClientCodec, DecodedResult, ListenFilter, WireInputRequest } from './client-codec.ts';
import { join, metaMembers, requestWith, sharedMembers } from './client-codec-base.ts';
import { type ClientDialect, encodeCapabilities } from './client-dialects.ts';
import { pick } from './content.ts';
import { encodeHeaderValue, type HeaderParam } from './headers.ts';

type Fields = { readonly [key: string]: unknown };

const complete = { kind: 'complete' } as const;

export function createClientStatelessCodec(
  dialect: ClientDialect,
  identity: Implementation,
  capabilities: Capabilities,
): ClientCodec {
  const { date, implementation } = dialect.shared;
  const envelope = JSON.stringify({
    [metaKeys.protocolVersion]: date,
    [metaKeys.clientInfo]: pick(identity, implementation),
    [metaKeys.clientCapabilities]: encodeCapabilities(capabilities, dialect),
  }).slice(1, -1);
  const plainMeta = `"_meta":{${envelope}}`;
  return {
    ...sharedMembers(dialect),
    opening: 'discover',
    inputRequests: 'retry',
    http: { headers: ['MCP-Protocol-Version', date], mirrored: true, sessions: false, closingCancels: true },
    request(id, method, fields, meta) {
      const own = meta === undefined ? '' : metaMembers(meta, true);
      return requestWith(id, method, join(fields, own === '' ? plainMeta : `"_meta":{${join(own, envelope)}}`));
    },
    openingFields: () => '',
    decodeResult: (result) => (result['resultType'] === 'complete' ? complete : readUnusual(result)),
    headers: mirror,
    listenFields: encodeFilter,
  };
}

/** A result without a type is complete: the server is older than it claims (2026-07-28, Versioning). */
function readUnusual(result: Fields): DecodedResult {
  const type = result['resultType'];
  if (type === undefined) return complete;
  if (type !== 'input_required') return { kind: 'invalid', why: `resultType ${JSON.stringify(type)} is not known` };
  const { inputRequests = {}, requestState } = result;
  if (requestState !== undefined && typeof requestState !== 'string') {
    return { kind: 'invalid', why: 'requestState is not a string' };
  }
  if (!isObject(inputRequests)) return { kind: 'invalid', why: 'inputRequests is not an object' };
  const requests: [string, WireInputRequest][] = [];
  for (const [key, inputRequest] of Object.entries(inputRequests)) {
    const params = isObject(inputRequest) ? (inputRequest['params'] ?? {}) : undefined;
    if (!isObject(inputRequest) || typeof inputRequest['method'] !== 'string' || !isObject(params)) {
      return { kind: 'invalid', why: `inputRequests.${key} is not a request` };
    }
    requests.push([key, { method: inputRequest['method'], params }]);
  }
  if (requests.length === 0 && requestState === undefined) {
    return { kind: 'invalid', why: 'input_required carries neither inputRequests nor requestState' };
  }
  return { kind: 'input-required', requests: Object.fromEntries(requests), state: requestState };
}

function mirror(
  method: string,
  name: string | undefined,
  params: readonly HeaderParam[],
  args: Fields,
): readonly string[] {
  const headers = ['Mcp-Method', method];
  if (name !== undefined && methodRow(method)?.nameIn !== undefined) headers.push('Mcp-Name', encodeHeaderValue(name));
  for (const { header, path } of params) {
    let value: unknown = args;
    for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    // A value that is absent, null or not primitive is not mirrored; the server validates it in the body.
    if (value === undefined || value === null || typeof value === 'object') continue;
    headers.push(`Mcp-Param-${header}`, encodeHeaderValue(String(value)));
  }
  return headers;
}

function encodeFilter({ tools, prompts, resources, uris }: ListenFilter): string {
  const notifications = {
    ...(tools === true ? { toolsListChanged: true } : {}),
    ...(prompts === true ? { promptsListChanged: true } : {}),
    ...(resources === true ? { resourcesListChanged: true } : {}),
    ...(uris === undefined || uris.length === 0 ? {} : { resourceSubscriptions: uris }),
  };
  return `"notifications":${JSON.stringify(notifications)}`;
}
