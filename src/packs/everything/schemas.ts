// Tools with special schemas: 2020-12 keywords, mirrored headers, structured output.

import type { Server } from '../../engine/server.ts';

const modernSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a JSON Schema keyword, never awaited
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const;

export function installSchemas(server: Server): void {
  server.tool('json_schema_2020_12_tool', {
    description: 'Takes arguments that need JSON Schema 2020-12',
    input: modernSchema,
    run: (args) => `Arguments accepted: ${JSON.stringify(args)}`,
  });
  server.tool('test_x_mcp_header', {
    description: 'Mirrors its region in a header, if the transport has headers',
    input: {
      type: 'object',
      properties: {
        region: { type: 'string', description: 'Where to run', 'x-mcp-header': 'Region' },
        query: { type: 'string', description: 'What to run' },
      },
      required: ['region'],
    },
    run: ({ region }: Record<string, unknown>) => `Running in ${String(region)}`,
  });
  server.tool('test_structured_object', {
    description: 'Returns a structured object',
    output: {
      type: 'object',
      properties: { celsius: { type: 'number' }, city: { type: 'string' } },
      required: ['celsius', 'city'],
    },
    run: () => ({ celsius: 21.5, city: 'Hamburg' }),
  });
  server.tool('test_structured_array', {
    description: 'Returns a structured array, wrapped on revisions that only support objects',
    output: { type: 'array', items: { type: 'string' } },
    run: () => ['one', 'two', 'three'],
  });
}
