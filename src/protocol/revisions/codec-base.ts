// What handshake and stateless codecs share: encoding results, errors and notifications from a row of data. They
// differ in the envelope around a result, in error codes and in how input requests are sent; those are options.

import type { Ability } from '../abilities.ts';
import { type ErrorKind, errorRows, type WireError } from '../errors.ts';
import { isObject, notificationText } from '../json-rpc.ts';
import { metaKeys, summaryKey } from '../meta.ts';
import type { CacheHint, Content, JsonObject, Meta, RequestId, ToolResult } from '../model.ts';
import type { ResolvedRules } from '../rules.ts';
import type { ChangeNotification, Codec, ListItemTypes } from './codec.ts';
import {
  contentText,
  encodeContent,
  encodePrompt,
  encodeResource,
  encodeResourceContents,
  encodeResourceTemplate,
  encodeTool,
  pick,
} from './content.ts';
import type { Dialect } from './dialects.ts';
import { isWrapped, wrapSchema } from './structured.ts';

/** What differs between a handshake and a stateless codec. */
export interface Envelope {
  readonly inputRequests: Codec['inputRequests'];
  readonly serverDescription: Codec['serverDescription'];
  /** Closes a result: `fields` is JSON without braces, may be empty. */
  close(fields: string, meta: Meta | undefined, cache: CacheHint | undefined): string;
  readonly passOn: Codec['passOn'];
  readonly codes: Partial<Record<ErrorKind, number>>;
  readonly statuses: Partial<Record<ErrorKind, number>>;
}

const changeMethods: Readonly<Record<ChangeNotification['kind'], string>> = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
  resource: 'notifications/resources/updated',
};

const encoders: { readonly [K in keyof ListItemTypes]: (item: ListItemTypes[K], dialect: Dialect) => object } = {
  tools: (tool, dialect) =>
    encodeTool({ ...tool, outputSchema: encodeOutputSchema(tool.outputSchema, dialect) }, dialect),
  resources: encodeResource,
  resourceTemplates: encodeResourceTemplate,
  prompts: encodePrompt,
  skills: (skill) => pick(skill, ['uri', 'frontmatter', 'resources', '_meta']),
};

function encodeOutputSchema(schema: JsonObject | undefined, dialect: Dialect): JsonObject | undefined {
  if (schema === undefined || dialect.structured === 'any' || !isWrapped(schema)) return schema;
  return wrapSchema(schema);
}

export function createCodec(dialect: Dialect, rules: ResolvedRules, envelope: Envelope): Codec {
  const { close } = envelope;
  const flat = rules.flatResource;
  const success = rules.explicitIsErrorFalse ? ',"isError":false' : '';
  const codeOf = (kind: ErrorKind): number => envelope.codes[kind] ?? errorRows[kind].code;

  return {
    date: dialect.date,
    rules,
    requests: new Set(dialect.requests),
    inputRequests: envelope.inputRequests,
    batches: rules.batch ?? dialect.batches,
    polling: dialect.polling,
    invalidArguments: rules.invalidArguments ?? dialect.invalidArguments,

    supports: (ability) => knows(ability, dialect),
    serverDescription: envelope.serverDescription,
    empty: () => close('', undefined, undefined),
    result: (members) => close(members, undefined, undefined),
    custom: ({ _meta, ...fields }) => {
      const text = JSON.stringify(fields);
      return close(text.slice(1, -1), isObject(_meta) ? _meta : undefined, undefined);
    },
    // Rules that change how results are encoded apply to those of other servers, too.
    passOn: flat || rules.explicitIsErrorFalse ? () => undefined : envelope.passOn,
    toolResult(result, outputSchema) {
      let fields = `"content":${contentText(shownContent(result, dialect, rules.jsonIndent), dialect, flat)}`;
      if (result.structuredContent !== undefined) fields += structuredText(result, outputSchema, dialect);
      fields += result.isError === true ? ',"isError":true' : success;
      return close(fields, result._meta, undefined);
    },
    promptResult(result) {
      const messages = result.messages.map(({ role, content }) => ({
        role,
        content: encodeContent(content, dialect, flat),
      }));
      const description =
        result.description === undefined ? '' : `"description":${JSON.stringify(result.description)},`;
      return close(`${description}"messages":${JSON.stringify(messages)}`, result._meta, undefined);
    },
    readResult(result, cache) {
      const contents = result.contents.map((each) => encodeResourceContents(each, dialect));
      return close(`"contents":${JSON.stringify(contents)}`, result._meta, result.cache ?? cache);
    },
    completion: (completion) => close(`"completion":${JSON.stringify(completion)}`, undefined, undefined),
    skill: (skill, cache) => close(`"skill":${JSON.stringify(encoders.skills(skill, dialect))}`, undefined, cache),
    list(key, items, nextCursor, cache) {
      const encodeItem = encoders[key];
      const texts = items.map((each) => JSON.stringify(encodeItem(each, dialect)));
      const cursor = nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`;
      return close(`"${key}":[${texts.join(',')}]${cursor}`, undefined, cache);
    },
    // Only a codec whose input requests are retries uses these two; the envelope itself marks them as incomplete.
    inputRequired(requests, state) {
      const parts = ['"resultType":"input_required"'];
      if (Object.keys(requests).length > 0) parts.push(`"inputRequests":${JSON.stringify(requests)}`);
      if (state !== undefined) parts.push(`"requestState":${JSON.stringify(state)}`);
      return close(parts.join(','), undefined, undefined);
    },
    subscriptionEnd: (id) => close('', { [metaKeys.subscriptionId]: id }, undefined),

    codeOf,
    error: (id, error) => errorText(id, error, error.code ?? codeOf(error.kind), dialect, rules),
    statusOf: (error) => error.http?.status ?? envelope.statuses[error.kind] ?? 200,

    progress: (progressToken, progress, total, message) =>
      notificationText('notifications/progress', {
        progressToken,
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined || !dialect.progressMessage ? {} : { message }),
      }),
    log: (level, logger, data) =>
      notificationText('notifications/message', { level, ...(logger === undefined ? {} : { logger }), data }),
    change(change, subscription) {
      const uri = change.uri === undefined ? {} : { uri: change.uri };
      if (subscription !== undefined) {
        const params = { ...uri, _meta: { [metaKeys.subscriptionId]: subscription } };
        return notificationText(changeMethods[change.kind], params);
      }
      return notificationText(changeMethods[change.kind], change.uri === undefined ? undefined : uri);
    },
    acknowledged: (subscription, notifications) =>
      notificationText('notifications/subscriptions/acknowledged', {
        notifications,
        _meta: { [metaKeys.subscriptionId]: subscription },
      }),
    cancelled: (requestId, reason, meta) =>
      notificationText('notifications/cancelled', {
        requestId,
        ...(reason === undefined ? {} : { reason }),
        ...(meta === undefined ? {} : { _meta: meta }),
      }),

    dialect,
  };
}

function knows(ability: Ability, dialect: Dialect): boolean {
  if (ability === 'elicitation.form') return dialect.elicitation !== 'none';
  if (ability === 'elicitation.url') return dialect.elicitation === 'full';
  return ability !== 'sampling.tools' || dialect.samplingTools;
}

/** The content; for a revision without structured results with their JSON, if there is no text, or only a summary. */
function shownContent(
  { content, structuredContent }: ToolResult,
  dialect: Dialect,
  indent: number,
): readonly Content[] {
  if (structuredContent === undefined || dialect.structured !== 'none') return content;
  if (content.some((each) => each.type === 'text' && !isSummary(each))) return content;
  const text = JSON.stringify(structuredContent, withoutBytesOf(content), indent) ?? 'null';
  return [{ type: 'text', text }, ...content.filter((each) => !isSummary(each))];
}

/** Shorter strings could be equal by chance. */
const minBytesLength = 256;

/**
 * Leaves out what a block contains as base64. Some servers repeat their blocks in structured content, and the context of a model
 * is too small for the text of a picture.
 */
function withoutBytesOf(content: readonly Content[]): ((key: string, value: unknown) => unknown) | undefined {
  const types = new Map<unknown, string>();
  for (const block of content) {
    const bytes = block.type === 'resource' ? block.resource.blob : 'data' in block ? block.data : undefined;
    if (bytes !== undefined && bytes.length >= minBytesLength) types.set(bytes, block.type);
  }
  if (types.size === 0) return undefined;
  return (_key, value) => {
    const type = typeof value === 'string' ? types.get(value) : undefined;
    return type === undefined ? value : `[the content block of type ${type} contains this]`;
  };
}

function isSummary({ _meta }: Content): boolean {
  return isObject(_meta) && _meta[summaryKey] === true;
}

function structuredText(result: ToolResult, outputSchema: JsonObject | undefined, dialect: Dialect): string {
  if (dialect.structured === 'none') return '';
  const value = result.structuredContent;
  const text = JSON.stringify(value) ?? 'null';
  const wrapped = dialect.structured === 'object' && isWrapped(outputSchema, value);
  return wrapped ? `,"structuredContent":{"result":${text}}` : `,"structuredContent":${text}`;
}

function errorText(
  id: RequestId | undefined,
  error: WireError,
  code: number,
  dialect: Dialect,
  rules: ResolvedRules,
): string {
  const body: { code: number; message: string; data?: unknown } = { code, message: error.message };
  if (rules.detailsStyle) {
    body.message = rules.titles[code] ?? titleOf(code, error.kind);
    body.data = { details: detailsOf(error), ...(isObject(error.data) ? error.data : {}) };
  } else if (error.data !== undefined) body.data = error.data;
  const text = JSON.stringify(body);
  if (id !== undefined) return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${text}}`;
  return dialect.unreadableId === 'null'
    ? `{"jsonrpc":"2.0","id":null,"error":${text}}`
    : `{"jsonrpc":"2.0","error":${text}}`;
}

/** The generic message of a code, for profiles that put the sentence into `data.details`. */
function titleOf(code: number, kind: ErrorKind): string {
  const row = errorRows[kind];
  if (row.code === code) return row.title;
  return Object.values(errorRows).find((each) => each.code === code)?.title ?? row.title;
}

/** The sentence without a leading generic title. */
function detailsOf(error: WireError): string {
  const prefix = `${errorRows[error.kind].title}: `;
  return error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
}
