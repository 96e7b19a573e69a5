// One tool whose arguments look like those of real tools: texts with lengths, an enum, a nested object and arrays.
import { createServer, serveStdio } from '../../dist/index.js';

const text = { type: 'string', minLength: 1, maxLength: 200 };
const server = createServer({ name: 'bench', version: '1.0.0' });
server.tool('create_issue', {
  description: 'Creates an issue',
  input: {
    type: 'object',
    properties: {
      project: text,
      title: text,
      body: { type: 'string', maxLength: 10_000 },
      kind: { type: 'string', enum: ['bug', 'feature', 'question'] },
      priority: { type: 'integer', minimum: 1, maximum: 5 },
      confidential: { type: 'boolean' },
      labels: { type: 'array', items: text, maxItems: 20 },
      reporter: {
        type: 'object',
        properties: { name: text, email: text, teams: { type: 'array', items: text } },
        required: ['name', 'email'],
        additionalProperties: false,
      },
    },
    required: ['project', 'title', 'kind', 'reporter'],
    additionalProperties: false,
  },
  run: () => 'created',
});
await serveStdio(server);
