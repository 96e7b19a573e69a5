// The JSON Schema of mooring.json, built from the rows of options.ts and from two shapes defined here: plugins and
// servers. Published as docs/schema/mooring.schema.json.

import { gatewaySchema, secretReference, upstreamSchema } from '../../gateway/config/schema.ts';
import type { JsonSchema } from '../../schema/index.ts';
import { type Option, options } from './options.ts';
import { maxCount, maxInteger } from './values.ts';

/** Where editors find the published schema. */
export const schemaUrl = 'https://unpkg.com/mooring/dist/mooring.schema.json';

const texts = { type: 'array', items: { type: 'string', minLength: 1 } } as const;

const plugin = {
  type: 'object',
  description: 'A plugin: a folder or an npm package with a manifest.',
  properties: {
    source: {
      type: 'string',
      minLength: 1,
      description: 'A folder ("./plugins/weather") or an npm package ("@me/x").',
    },
    grant: { ...texts, description: 'Capabilities the plugin may use. Without one that it needs, it is not loaded.' },
    config: { description: 'Options of the plugin, validated against the schema in its manifest.' },
    enabled: { type: 'boolean', description: 'False: do not load the plugin.' },
  },
  required: ['source'],
  additionalProperties: false,
} as const;

const serverEntry = {
  type: 'object',
  description: 'A server in the format that MCP clients use: a command or a URL.',
  properties: {
    type: { type: 'string', description: 'stdio, http, sse or ws; derived from the other fields if absent.' },
    command: { type: 'string', minLength: 1, description: 'The program to start, without a shell.' },
    args: { type: 'array', items: { type: ['string', 'number', 'boolean'] }, description: 'Its arguments.' },
    env: {
      type: 'object',
      additionalProperties: { anyOf: [{ type: ['string', 'number', 'boolean', 'null'] }, secretReference] },
      description: 'Its environment variables. null: not set.',
    },
    cwd: { type: 'string', description: 'Its working folder.' },
    url: { type: 'string', minLength: 1, description: 'The URL of the server: http, https, ws or wss.' },
    httpUrl: { type: 'string', minLength: 1, description: 'The same as url, in the format of Gemini CLI.' },
    headers: {
      type: 'object',
      additionalProperties: { anyOf: [{ type: ['string', 'number', 'boolean'] }, secretReference] },
      description: 'Headers of every request.',
    },
    disabled: { type: 'boolean', description: 'True: the gateway does not offer it.' },
    mooring: upstreamSchema,
  },
} as const;

/** The keys of `packs`. Each profile reads those of its packs; the others have no effect there. */
const packNames = [
  ...(['clipboard', 'dbus', 'files', 'limits', 'meta', 'openapi'] as const),
  ...(['reference', 'research', 'search', 'system', 'workers'] as const),
];

/** A pack whose options can be in the configuration. */
export type PackName = (typeof packNames)[number];

const trees: Readonly<Record<string, JsonSchema>> = {
  packs: {
    type: 'object',
    properties: Object.fromEntries(packNames.map((name) => [name, { type: 'object' }])),
    additionalProperties: false,
  },
  plugins: { type: 'array', items: plugin },
  mcpServers: { type: 'object', additionalProperties: serverEntry },
  gateway: gatewaySchema,
};

/** The schema of the file. */
export function configSchema(): JsonSchema {
  const root = newObject();
  root.properties['$schema'] = { type: 'string', description: 'Where editors find this schema.' };
  for (const option of options) place(root, option.key.split('.'), schemaOf(option));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: schemaUrl,
    title: 'mooring.json',
    description: `Settings of Mooring. Comments and trailing commas are allowed; \${VAR} is taken from the environment.`,
    ...root,
  };
}

interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Record<string, JsonSchema>;
  readonly additionalProperties: false;
  readonly minProperties?: number;
}

const newObject = (): ObjectSchema => ({ type: 'object', properties: {}, additionalProperties: false });

/** Security groups: an empty one, such as `"auth": {}`, would look as if it had an effect. */
const securityGroups: readonly string[] = ['audit', 'auth', 'oauth'];

function place(into: ObjectSchema, [name, ...rest]: readonly string[], schema: JsonSchema): void {
  if (name === undefined) return;
  if (rest.length === 0) {
    into.properties[name] = schema;
    return;
  }
  const group = { ...newObject(), ...(securityGroups.includes(name) ? { minProperties: 1 } : {}) };
  place((into.properties[name] ??= group as unknown as JsonSchema) as unknown as ObjectSchema, rest, schema);
}

function schemaOf({ key, kind, about, oneOf, security }: Option): JsonSchema {
  const description = `${about.charAt(0).toUpperCase()}${about.slice(1).replace(/; repeatable/, '')}.`;
  const choice = oneOf === undefined ? {} : { enum: oneOf };
  switch (kind) {
    case 'switch':
      return { type: 'boolean', description };
    case 'number':
      return { type: 'integer', minimum: 0, maximum: 65_535, description };
    case 'count':
      return { anyOf: [{ type: 'integer', minimum: 1, maximum: maxCount }, { const: 'auto' }], description };
    case 'integer':
      return { type: 'integer', minimum: 0, maximum: maxInteger, description };
    case 'bytes':
      return { type: 'integer', minimum: 1, description };
    case 'text':
    case 'path':
    case 'path-or-url':
      return { type: 'string', minLength: 1, ...choice, description };
    case 'texts':
    case 'paths':
      return {
        type: 'array',
        ...(security === true ? { minItems: 1 } : {}),
        items: { type: 'string', minLength: 1, ...choice },
        description,
      };
    case 'tree':
      return { ...trees[key], description };
  }
}
