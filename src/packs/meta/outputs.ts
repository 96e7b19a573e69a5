// The output schemas of this pack's tools: programs can rely on these fields; more may be added.

const name = { type: 'string' } as const;

/** Output of health_check. */
export const healthOutput = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['ok', 'degraded'], description: 'ok if every part is ok' },
    server: { type: 'string', description: 'Name of the server' },
    version: { type: 'string', description: 'Version of the server' },
    uptime: { type: 'integer', minimum: 0, description: 'Seconds since the start' },
    parts: {
      type: 'array',
      description: 'Parts of the server: stores, services, plugins',
      items: {
        type: 'object',
        properties: {
          name,
          status: { type: 'string', enum: ['ok', 'degraded', 'failed'] },
          detail: { type: 'string', description: 'What is wrong and what to do, or what is in use' },
        },
        required: ['name', 'status'],
      },
    },
  },
  required: ['status', 'server', 'version', 'uptime', 'parts'],
} as const;

/** Output of search_tools. */
export const searchOutput = {
  type: 'object',
  properties: {
    tools: {
      type: 'array',
      description: 'Best first',
      items: {
        type: 'object',
        properties: {
          name,
          title: { type: 'string' },
          description: { type: 'string' },
          category: { type: 'string' },
          inputSchema: { type: 'object', description: 'JSON Schema of the arguments' },
        },
        required: ['name', 'category', 'inputSchema'],
      },
    },
    total: { type: 'integer', minimum: 0, description: 'Number of matching tools, including those not returned' },
  },
  required: ['tools', 'total'],
} as const;

/** Output of list_categories. */
export const categoriesOutput = {
  type: 'object',
  properties: {
    categories: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name,
          about: { type: 'string', description: 'What its tools are for' },
          tools: { type: 'array', items: { type: 'string' }, description: 'Names of its tools' },
        },
        required: ['name', 'tools'],
      },
    },
  },
  required: ['categories'],
} as const;
