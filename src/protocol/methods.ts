// One row per method: who sends it, which server capability it needs, and the shape of its params. Which revisions
// know a method is said in revisions/; what it does is said in engine/features/.

import { isObject, type Params } from './json-rpc.ts';

type FieldType = 'string' | 'object' | 'strings';

export interface MethodRow {
  readonly name: string;
  readonly from: 'client' | 'server' | 'both';
  /** Server capability without which the method does not exist; a dotted path means a flag inside it. */
  readonly needs?: string;
  /** Required and optional members of `params` (a trailing `?` marks the optional ones). */
  readonly params?: Readonly<Record<string, FieldType>>;
  /** The handler may ask the client for input while it runs. */
  readonly asks?: true;
  /** Which member names the thing addressed; mirrored in a header by revisions that do so. */
  readonly nameIn?: 'name' | 'uri';
  /** The answer carries caching hints on revisions that have them. */
  readonly cacheable?: true;
}

const page = { 'cursor?': 'string' } as const;
const oneUri = { uri: 'string' } as const;

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
    params: { name: 'string', 'arguments?': 'object' },
    asks: true,
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
    asks: true,
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
  listen: { name: 'subscriptions/listen', from: 'client', params: { notifications: 'object' } },
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
    params: { name: 'string', 'arguments?': 'strings' },
    asks: true,
    nameIn: 'name',
  },
  complete: {
    name: 'completion/complete',
    from: 'client',
    needs: 'completions',
    params: { ref: 'object', argument: 'object', 'context?': 'object' },
  },
  setLevel: { name: 'logging/setLevel', from: 'client', needs: 'logging', params: { level: 'string' } },
  sample: { name: 'sampling/createMessage', from: 'server' },
  listRoots: { name: 'roots/list', from: 'server' },
  elicit: { name: 'elicitation/create', from: 'server' },
} as const satisfies Record<string, MethodRow>;

const rowsByName = new Map<string, MethodRow>();
for (const each of Object.values(methods)) rowsByName.set(each.name, each);

export function methodRow(name: string): MethodRow | undefined {
  return rowsByName.get(name);
}

/** How a field is told to have its type, and how the type is called. */
function testOf(type: FieldType): Pick<Field, 'is' | 'words'> {
  switch (type) {
    case 'string':
      return { is: (value) => typeof value === 'string', words: 'a string' };
    case 'object':
      return { is: isObject, words: 'an object' };
    case 'strings':
      return {
        is: (value) => isObject(value) && Object.values(value).every((each) => typeof each === 'string'),
        words: 'an object of strings',
      };
  }
}

interface Field {
  readonly name: string;
  readonly optional: boolean;
  readonly is: (value: unknown) => boolean;
  readonly words: string;
}

const fieldsByRow = new Map<MethodRow, readonly Field[]>();

function fieldsOf(method: MethodRow): readonly Field[] {
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

/** Says what is wrong with the params of a method, or undefined when they have the right shape. */
export function checkParams(method: MethodRow, params: Params | undefined): string | undefined {
  for (const { name, optional, is, words } of fieldsOf(method)) {
    const value = params !== undefined && Object.hasOwn(params, name) ? params[name] : undefined;
    if (value === undefined) {
      if (!optional) return `${JSON.stringify(name)} is required and must be ${words}`;
    } else if (!is(value)) return `${JSON.stringify(name)} must be ${words}`;
  }
  return undefined;
}
