// Validates every message a server sends: by the official SDK's types, which come with the dev dependencies, and by the
// official JSON Schemas of the revision where they are at hand. The schemas are read strictly: a field the revision
// does not define is a finding even where the schema would let it pass.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as official from '@modelcontextprotocol/core';
import { Ajv2020 } from 'ajv/dist/2020.js';

type Json = { readonly [key: string]: unknown };

const schemaFolder = resolve(import.meta.dirname, '../../../shared/spec/schema');
export const hasOfficialSchemas = existsSync(schemaFolder);

const resultTypes: Readonly<Record<string, string>> = {
  initialize: 'InitializeResult',
  ping: 'EmptyResult',
  'server/discover': 'DiscoverResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'resources/subscribe': 'EmptyResult',
  'resources/unsubscribe': 'EmptyResult',
  'subscriptions/listen': 'SubscriptionsListenResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'completion/complete': 'CompleteResult',
  'logging/setLevel': 'EmptyResult',
  'tasks/get': 'GetTaskResult',
  'tasks/cancel': 'CancelTaskResult',
  'tasks/result': 'CallToolResult',
  'tasks/list': 'ListTasksResult',
};

/** Tasks are an extension on the stateless revision, which its schema does not define. */
const isExtension = (revision: string, method: string | undefined, result: Json): boolean =>
  revision === '2026-07-28' && (method?.startsWith('tasks/') === true || result['resultType'] === 'task');

const sentTypes: Readonly<Record<string, string>> = {
  'notifications/progress': 'ProgressNotification',
  'notifications/message': 'LoggingMessageNotification',
  'notifications/cancelled': 'CancelledNotification',
  'notifications/tools/list_changed': 'ToolListChangedNotification',
  'notifications/prompts/list_changed': 'PromptListChangedNotification',
  'notifications/resources/list_changed': 'ResourceListChangedNotification',
  'notifications/resources/updated': 'ResourceUpdatedNotification',
  'notifications/subscriptions/acknowledged': 'SubscriptionsAcknowledgedNotification',
  'notifications/tasks/status': 'TaskStatusNotification',
  'elicitation/create': 'ElicitRequest',
  'sampling/createMessage': 'CreateMessageRequest',
  'roots/list': 'ListRootsRequest',
};

/** What is wrong with one emitted message; `method` is that of the request it answers. */
export function validateMessage(revision: string, message: Json, method: string | undefined): string[] {
  if (Array.isArray(message)) return message.flatMap((each) => validateMessage(revision, each as Json, undefined));
  const findings = validateFrame(message);
  if (typeof message['method'] === 'string') {
    if (message['method'] === 'notifications/tasks' && revision === '2026-07-28') return findings;
    const type = sentTypes[message['method']];
    if (type === undefined) return [...findings, `emits ${message['method']}, which no revision defines`];
    return [...findings, ...byOfficialTypes(type, message), ...bySchema(revision, type, message)];
  }
  if ('error' in message) return findings;
  const result = message['result'] as Json;
  const known = method === undefined ? undefined : resultTypes[method];
  if (known === undefined || isExtension(revision, method, result)) return findings;
  const required = result['resultType'] === 'input_required' ? 'InputRequiredResult' : known;
  const type = method === 'tools/call' && 'task' in result ? 'CreateTaskResult' : required;
  return [...findings, ...byOfficialTypes(type, result), ...bySchema(revision, type, result)];
}

function validateFrame(message: Json): string[] {
  const findings: string[] = [];
  if (message['jsonrpc'] !== '2.0') findings.push('jsonrpc is not "2.0"');
  const allowed = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];
  for (const key of Object.keys(message)) if (!allowed.includes(key)) findings.push(`unknown member ${key}`);
  if ('error' in message) {
    const { code, message: text, ...rest } = message['error'] as Json;
    if (!Number.isInteger(code) || typeof text !== 'string') findings.push('error needs an integer code and a message');
    for (const key of Object.keys(rest)) if (key !== 'data') findings.push(`unknown error member ${key}`);
  }
  return findings;
}

function byOfficialTypes(type: string, value: Json): string[] {
  const schema = (official as Record<string, unknown>)[`${type}Schema`] as
    | { safeParse(value: unknown): { success: boolean; error?: { message: string } } }
    | undefined;
  if (schema === undefined) return [];
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : [`official type ${type}: ${parsed.error?.message}`];
}

interface Definitions {
  readonly all: { readonly [name: string]: Json };
  validate(type: string, value: unknown): string | undefined;
}

const loaded = new Map<string, Definitions>();

function definitionsOf(revision: string): Definitions {
  let definitions = loaded.get(revision);
  if (definitions === undefined) {
    const document = JSON.parse(readFileSync(`${schemaFolder}/${revision}/schema.json`, 'utf8')) as Json;
    const key = '$defs' in document ? '$defs' : 'definitions';
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ ...document, $schema: undefined, $id: 'mcp' });
    definitions = {
      all: document[key] as { [name: string]: Json },
      validate(type, value) {
        const check = ajv.getSchema(`mcp#/${key}/${type}`);
        if (check === undefined) return `${type} does not exist in ${revision}`;
        return check(value) === true ? undefined : ajv.errorsText(check.errors);
      },
    };
    loaded.set(revision, definitions);
  }
  return definitions;
}

function bySchema(revision: string, type: string, value: Json): string[] {
  if (!hasOfficialSchemas) return [];
  const definitions = definitionsOf(revision);
  const problem = definitions.validate(type, value);
  if (problem !== undefined) return [`${revision} ${type}: ${problem}`];
  return undefinedFields(value, { $ref: `#/x/${type}` }, definitions, type);
}

/** Members that are free by design: user data, open capability maps, metadata. */
const open = new Set([
  '_meta',
  'inputSchema',
  'outputSchema',
  'structuredContent',
  'data',
  'capabilities',
  'requestedSchema',
  'inputRequests',
  'metadata',
  'input',
]);

/** Fields a value has and the type does not define. */
function undefinedFields(value: unknown, schema: Json, definitions: Definitions, where: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const branches = unfold(schema, definitions);
  if (Array.isArray(value)) {
    const items = branches.flatMap((each) => (each['items'] === undefined ? [] : [each['items'] as Json]));
    if (items.length === 0) return [];
    return value.flatMap((each, i) =>
      best(items.map((item) => undefinedFields(each, item, definitions, `${where}[${i}]`))),
    );
  }
  const candidates = branches.filter((each) => each['properties'] !== undefined && fits(value as Json, each));
  if (candidates.length === 0) return [];
  return best(
    candidates.map((each) => {
      const properties = each['properties'] as { [key: string]: Json };
      return Object.entries(value).flatMap(([key, inner]) => {
        const property = properties[key];
        // The extension for tasks adds `taskIds` to subscriptions.
        const isKnown = key === 'jsonrpc' || key === 'id' || key === 'taskIds';
        if (property === undefined) return isKnown ? [] : [`${where}.${key} is not defined`];
        return open.has(key) ? [] : undefinedFields(inner, property, definitions, `${where}.${key}`);
      });
    }),
  );
}

/** Whether the constants of a branch (such as `type: "text"`) agree with the value. */
function fits(value: Json, branch: Json): boolean {
  const properties = branch['properties'] as { [key: string]: Json };
  const required = (branch['required'] ?? []) as string[];
  return (
    required.every((key) => key in value) &&
    Object.entries(properties).every(
      ([key, each]) => each['const'] === undefined || !(key in value) || value[key] === each['const'],
    )
  );
}

function unfold(schema: Json, definitions: Definitions): Json[] {
  if (typeof schema['$ref'] === 'string') {
    const target = definitions.all[schema['$ref'].split('/').at(-1) as string];
    return target === undefined ? [] : unfold(target, definitions);
  }
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (schema[key] ?? []) as Json[]);
  return parts.length === 0 ? [schema] : parts.flatMap((each) => unfold(each, definitions));
}

function best(findings: readonly string[][]): string[] {
  return findings.reduce((fewest, each) => (each.length < fewest.length ? each : fewest), findings[0] ?? []);
}
