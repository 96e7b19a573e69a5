// resources/list, resources/templates/list and resources/read.

import { toBase64 } from '../../common/base64url.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { CacheHint, ReadResult, Resource, ResourceContents } from '../../protocol/model.ts';
import { isThenable } from '../calls/run-call.ts';
import { isVisible, type TemplateEntry } from '../catalog/catalog-entry.ts';
import type { ListItem } from '../catalog/lists.ts';
import type { Call, Feature } from '../contract.ts';
import type { ReadReturn } from '../definitions.ts';
import { resumeFromState } from '../input-requests/load.ts';
import { runWithInput } from '../input-requests/rerun.ts';

export const listResources: Feature<string> = {
  duration: 'handler',
  run(call) {
    const listed = templateResources(call);
    if (listed === undefined) return call.server.lists.page('resources', call);
    return listed.then((rows) => call.server.lists.page('resources', call, rows));
  },
  encode: (page, { server }) => server.lists.encode(page),
};

/** What the templates list; undefined if none of them does. */
function templateResources(call: Call): Promise<ListItem<'resources'>[]> | undefined {
  const { catalog, peer } = call;
  const lists = [...visibleTemplates(call)].flatMap(({ key, definition }) =>
    definition.list === undefined ? [] : [checkedList(key, definition.list(peer.principal))],
  );
  if (lists.length === 0) return undefined;
  return Promise.all(lists).then((listed) => {
    // A resource of a template that is also registered by itself is listed once, as registered.
    const rows = new Map<string, ListItem<'resources'>>();
    for (const item of listed.flat()) {
      if (catalog.resources.has(item.uri) || !catalog.allows('resources', item.uri, peer.principal)) continue;
      rows.set(item.uri, { key: item.uri, item });
    }
    return [...rows.values()];
  });
}

async function checkedList(template: string, listed: unknown): Promise<readonly Resource[]> {
  const items = await listed;
  const where = `Resource template ${template}, list`;
  if (!Array.isArray(items)) throw new TypeError(`${where}: must return a list of { uri, name }`);
  const wrong = items.findIndex(
    (each) => !isObject(each) || typeof each['uri'] !== 'string' || typeof each['name'] !== 'string',
  );
  if (wrong === -1) return items;
  throw new TypeError(`${where}: item ${wrong} needs a "uri" and a "name": { uri: "note://1", name: "First note" }`);
}

/** The resources that a caller may see: those that are registered, listed or not, and those that templates list. */
export async function gatheredResources(call: Call): Promise<readonly Resource[]> {
  const { catalog, peer } = call;
  const registered = [...catalog.resources.values()].filter((entry) => isVisible(entry, peer.principal));
  const listed = (await templateResources(call)) ?? [];
  return [...registered.map((entry) => entry.describe()), ...listed.map(({ item }) => item)];
}

export const listResourceTemplates: Feature<string> = {
  run: (call) => call.server.lists.page('resourceTemplates', call),
  encode: (page, { server }) => server.lists.encode(page),
};

/** For contents without a cache hint. */
const notCached: CacheHint = { ttlMs: 0, cacheScope: 'private' };

export const readResource: Feature<ReadResult> = {
  duration: 'handler',
  run(call) {
    const resumed = resumeFromState(call);
    return resumed === undefined ? read(call) : resumed.then(() => read(call));
  },
  // Contents belong to the caller unless the resource says otherwise; the cache hint of lists does not apply to them.
  encode: (result, call) => call.codec.readResult(result, (call.target as CacheHint | undefined) ?? notCached),
};

function* visibleTemplates(call: Call): Iterable<TemplateEntry> {
  for (const entry of call.catalog.resourceTemplates.values()) {
    if (entry.visible === undefined || entry.visible(call.peer.principal)) yield entry;
  }
}

function read(call: Call): ReadResult | Promise<ReadResult> {
  const uri = call.params['uri'] as string;
  const { catalog } = call;
  if (!catalog.allows('resources', uri, call.peer.principal)) throw wireErrors.resourceNotFound(uri);
  const entry = catalog.resources.get(uri);
  if (entry !== undefined && (entry.visible === undefined || entry.visible(call.peer.principal))) {
    const { definition } = entry;
    call.target = definition.cache;
    const returned = runWithInput(call, () => definition.read(call.ctx));
    return entry.relayed === true ? (returned as ReadResult) : settle(uri, definition.mimeType, returned);
  }
  const matched = matchTemplate(call, uri, true) ?? matchTemplate(call, uri, false);
  if (matched === undefined) throw wireErrors.resourceNotFound(uri);
  const [{ definition, relayed }, variables] = matched;
  call.target = definition.cache;
  const returned = runWithInput(call, () => definition.read(variables, call.ctx, uri));
  return relayed === true ? (returned as ReadResult) : settle(uri, definition.mimeType, returned);
}

/** Those that are in no list come last: they match what no other does. */
function matchTemplate(
  call: Call,
  uri: string,
  listed: boolean,
): readonly [TemplateEntry, Record<string, string>] | undefined {
  for (const entry of visibleTemplates(call)) {
    const variables = (entry.listed !== false) === listed ? entry.template.match(uri) : undefined;
    if (variables !== undefined) return [entry, variables];
  }
  return undefined;
}

type Returned = ReadReturn | Promise<ReadReturn>;

function settle(uri: string, mimeType: string | undefined, returned: Returned): ReadResult | Promise<ReadResult> {
  if (isThenable(returned))
    return Promise.resolve(returned as Promise<ReadReturn>).then((value) => toReadResult(uri, mimeType, value));
  return toReadResult(uri, mimeType, returned as ReadReturn);
}

/** A read without contents is "not found", never an empty list. */
function toReadResult(uri: string, mimeType: string | undefined, value: ReadReturn): ReadResult {
  if (value === undefined || value === null) throw wireErrors.resourceNotFound(uri);
  const type = mimeType === undefined ? {} : { mimeType };
  if (typeof value === 'string') return { contents: [{ uri, ...type, text: value }] };
  if (value instanceof Uint8Array) return { contents: [{ uri, ...type, blob: toBase64(value) }] };
  const result: ReadResult = isReadResult(value)
    ? value
    : { contents: Array.isArray(value) ? (value as ResourceContents[]) : [value as ResourceContents] };
  if (result.contents.length === 0) throw wireErrors.resourceNotFound(uri);
  if (!result.contents.every((each) => isObject(each) && typeof (each.text ?? each.blob) === 'string')) {
    throw new TypeError(
      `Resource ${uri}: each of its contents needs "text", or base64 in "blob". Return a string, bytes, ` +
        'JSON.stringify(value), or { contents: [{ uri, text }] }',
    );
  }
  return { ...result, contents: result.contents.map((each) => ({ ...type, ...each, uri: each.uri ?? uri })) };
}

function isReadResult(value: object): value is ReadResult {
  return Array.isArray((value as ReadResult).contents);
}
