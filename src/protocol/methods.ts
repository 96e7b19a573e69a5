// One row per method: who sends it, which server capability it needs, and the shape of its params. Which revisions
// have a method is defined in revisions/; what it does is defined in engine/features/.

import { isObject, type Params } from './json-rpc.ts';
import type { ParamLimits } from './param-limits.ts';

/** `name`, `uri` and `cursor` are strings with a length limit of their own. */
type FieldType = 'name' | 'uri' | 'cursor' | 'object' | 'strings';

export interface MethodRow {
  readonly name: string;
  readonly from: 'client' | 'server' | 'both';
  /** Server capability without which the method does not exist; a dotted path means a flag inside it. */
  readonly needs?: string;
  /** Required and optional members of `params` (a trailing `?` marks the optional ones). */
  readonly params?: Readonly<Record<string, FieldType>>;
  /** Returns what else is wrong with params that have the right members. */
  readonly check?: (params: Params, limits: ParamLimits) => string | undefined;
  /** The handler may send input requests to the client while it runs. */
  readonly requestsInput?: true;
  /** The member that names the target; mirrored in a header by revisions that do so. */
  readonly nameIn?: 'name' | 'uri' | 'taskId';
  /** The response carries caching hints on revisions that have them. */
  readonly cacheable?: true;
}

const page = { 'cursor?': 'cursor' } as const;
const oneUri = { uri: 'uri' } as const;
const oneTask = { taskId: 'name' } as const;

export const methods = {
  initialize: { name: 'initialize', from: 'client' },
  ping: { name: 'ping', from: 'both' },
  discover: { name: 'server/discover', from: 'client', cacheable: true },
  listTools: {
    name: 'tools/list',
    from: 'client',
    needs: 'tools',
    params: page,
    cacheable: true,
  },
  callTool: {
    name: 'tools/call',
    from: 'client',
    needs: 'tools',
    params: { name: 'name', 'arguments?': 'object' },
    requestsInput: true,
    nameIn: 'name',
  },
  listResources: {
    name: 'resources/list',
    from: 'client',
    needs: 'resources',
    params: page,
    cacheable: true,
  },
  listResourceTemplates: {
    name: 'resources/templates/list',
    from: 'client',
    needs: 'resources',
    params: page,
    cacheable: true,
  },
  readResource: {
    name: 'resources/read',
    from: 'client',
    needs: 'resources',
    params: oneUri,
    requestsInput: true,
    nameIn: 'uri',
    cacheable: true,
  },
  subscribe: {
    name: 'resources/subscribe',
    from: 'client',
    needs: 'resources.subscribe',
    params: oneUri,
  },
  unsubscribe: {
    name: 'resources/unsubscribe',
    from: 'client',
    needs: 'resources.subscribe',
    params: oneUri,
  },
  listen: {
    name: 'subscriptions/listen',
    from: 'client',
    params: { notifications: 'object' },
    check: ({ notifications }, limits) => checkNotifications(notifications as Params, limits),
  },
  listPrompts: {
    name: 'prompts/list',
    from: 'client',
    needs: 'prompts',
    params: page,
    cacheable: true,
  },
  getPrompt: {
    name: 'prompts/get',
    from: 'client',
    needs: 'prompts',
    params: { name: 'name', 'arguments?': 'strings' },
    requestsInput: true,
    nameIn: 'name',
  },
  complete: {
    name: 'completion/complete',
    from: 'client',
    needs: 'completions',
    params: { ref: 'object', argument: 'object', 'context?': 'object' },
    check: checkCompletion,
  },
  getTask: { name: 'tasks/get', from: 'client', needs: 'tasks', params: oneTask, nameIn: 'taskId' },
  updateTask: {
    name: 'tasks/update',
    from: 'client',
    needs: 'tasks',
    params: { ...oneTask, inputResponses: 'object' },
    nameIn: 'taskId',
  },
  cancelTask: { name: 'tasks/cancel', from: 'client', needs: 'tasks', params: oneTask, nameIn: 'taskId' },
  taskResult: { name: 'tasks/result', from: 'client', needs: 'tasks', params: oneTask },
  listTasks: { name: 'tasks/list', from: 'client', needs: 'tasks', params: page },
  listSkills: { name: 'skills/list', from: 'client', needs: 'skills', params: page, cacheable: true },
  getSkill: { name: 'skills/get', from: 'client', needs: 'skills', params: oneUri, cacheable: true },
  readDirectory: {
    name: 'resources/directory/read',
    from: 'client',
    needs: 'skills.directoryRead',
    params: { ...oneUri, ...page },
  },
  setLevel: { name: 'logging/setLevel', from: 'client', needs: 'logging', params: { level: 'name' } },
  sample: { name: 'sampling/createMessage', from: 'server' },
  listRoots: { name: 'roots/list', from: 'server' },
  elicit: { name: 'elicitation/create', from: 'server' },
} as const satisfies Record<string, MethodRow>;

const rowsByName = new Map<string, MethodRow>();
for (const each of Object.values(methods)) rowsByName.set(each.name, each);

export function methodRow(name: string): MethodRow | undefined {
  return rowsByName.get(name);
}

/** The check for a field type, and the name of the type in messages. */
function testOf(type: FieldType): Pick<ParamField, 'is' | 'typeName' | 'limit'> {
  switch (type) {
    case 'name':
      return { ...text, limit: 'maxNameLength' };
    case 'uri':
      return { ...text, limit: 'maxUriLength' };
    case 'cursor':
      return { ...text, limit: 'maxCursorLength' };
    case 'object':
      return { is: isObject, typeName: 'an object' };
    case 'strings':
      return { is: isStrings, typeName: 'an object of strings' };
  }
}

function isStrings(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

const text = { is: (value: unknown) => typeof value === 'string', typeName: 'a string' };

interface ParamField {
  readonly name: string;
  readonly optional: boolean;
  readonly is: (value: unknown) => boolean;
  readonly typeName: string;
  /** The limit for the length of a string. */
  readonly limit?: keyof ParamLimits;
}

const fieldsByRow = new Map<MethodRow, readonly ParamField[]>();

function fieldsOf(method: MethodRow): readonly ParamField[] {
  let fields = fieldsByRow.get(method);
  if (fields === undefined) {
    fields = Object.entries(method.params ?? {}).map(([key, type]) => ({
      name: key.endsWith('?') ? key.slice(0, -1) : key,
      optional: key.endsWith('?'),
      ...testOf(type),
    }));
    fieldsByRow.set(method, fields);
  }
  return fields;
}

/** Returns what is wrong with the params of a method, or undefined when they have the right shape and length. */
export function checkParams(method: MethodRow, params: Params | undefined, limits: ParamLimits): string | undefined {
  for (const { name, optional, is, typeName, limit } of fieldsOf(method)) {
    const value = params !== undefined && Object.hasOwn(params, name) ? params[name] : undefined;
    if (value === undefined) {
      if (!optional) return `${JSON.stringify(name)} is required and must be ${typeName}`;
    } else if (!is(value)) return `${JSON.stringify(name)} must be ${typeName}`;
    else if (limit !== undefined && (value as string).length > limits[limit]) return tooLong(name, limits[limit]);
  }
  return method.check?.(params ?? {}, limits);
}

const listFlags = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'];

/** What is wrong with the changes that a client wants to be notified of. */
function checkNotifications(notifications: Params, limits: ParamLimits): string | undefined {
  for (const flag of listFlags) {
    if (notifications[flag] !== undefined && typeof notifications[flag] !== 'boolean')
      return `notifications.${flag} must be a boolean`;
  }
  const uris = notifications['resourceSubscriptions'];
  const problem = uris === undefined ? undefined : checkUris(uris, limits);
  if (problem !== undefined) return `notifications.resourceSubscriptions ${problem}`;
  const ids = notifications['taskIds'];
  return ids === undefined ? undefined : checkTaskIds(ids, limits);
}

function checkTaskIds(ids: unknown, { maxWatchedTasks, maxNameLength }: ParamLimits): string | undefined {
  const isId = (id: unknown): boolean => typeof id === 'string' && id.length <= maxNameLength;
  if (!Array.isArray(ids) || !ids.every(isId)) return 'notifications.taskIds must be an array of task ids';
  if (ids.length > maxWatchedTasks) return `notifications.taskIds must have at most ${maxWatchedTasks} ids`;
  return undefined;
}

function checkUris(uris: unknown, { maxWatched, maxWatchedLength, maxUriLength }: ParamLimits): string | undefined {
  if (!Array.isArray(uris)) return 'must be an array of URIs';
  if (uris.length > maxWatched) return `must have at most ${maxWatched} URIs`;
  let length = 0;
  for (const uri of uris as unknown[]) {
    if (typeof uri !== 'string') return 'must be an array of URIs';
    if (uri.length > maxUriLength) return `must have URIs of at most ${maxUriLength} characters`;
    length += uri.length;
  }
  return length > maxWatchedLength ? `must have at most ${maxWatchedLength} characters in total` : undefined;
}

/** What is wrong with the argument that a client wants to complete. */
function checkCompletion(params: Params, { maxNameLength, maxUriLength }: ParamLimits): string | undefined {
  const ref = params['ref'] as Params;
  const { name, value } = params['argument'] as Params;
  if (typeof name !== 'string' || typeof value !== 'string') {
    return '"argument" needs a "name" and a "value", both strings';
  }
  if (name.length > maxNameLength) return tooLong('argument.name', maxNameLength);
  const known = (params['context'] as Params | undefined)?.['arguments'];
  if (known !== undefined && !isStrings(known)) return '"context.arguments" must be an object of strings';
  if (ref['type'] === 'ref/prompt' && typeof ref['name'] === 'string') {
    return ref['name'].length > maxNameLength ? tooLong('ref.name', maxNameLength) : undefined;
  }
  if (ref['type'] === 'ref/resource' && typeof ref['uri'] === 'string') {
    return ref['uri'].length > maxUriLength ? tooLong('ref.uri', maxUriLength) : undefined;
  }
  return '"ref" must be {type: "ref/prompt", name} or {type: "ref/resource", uri}';
}

/** The message for a text that is too long, without repeating it. */
export function tooLong(name: string, limit: number): string {
  return `${JSON.stringify(name)} must have at most ${limit} characters`;
}
