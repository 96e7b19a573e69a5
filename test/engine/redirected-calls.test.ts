// Middleware that makes a call of one tool a call of another: everything else sees the tool that runs.

import { expect, test } from 'vitest';
import { connect, inMemory } from '../../src/client/index.ts';
import { createServer } from '../../src/engine/server.ts';
import { wireErrors } from '../../src/protocol/errors.ts';

function serverWithAlias() {
  const server = createServer({ name: 'test', version: '1', logger: false });
  server.tool('add', {
    input: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } as const,
    run: ({ a }) => `added ${a}`,
  });
  server.around(
    Object.assign((_request: unknown, next: () => unknown) => next(), {
      redirect: (params: { readonly [key: string]: unknown }) => {
        if (params['name'] === 'forbidden') throw wireErrors.unknownTool('forbidden');
        return params['name'] === 'plus' ? { name: 'add', arguments: params['arguments'] } : undefined;
      },
    }),
  );
  return server;
}

test('a redirected call runs the other tool, and middleware and observers see only that one', async () => {
  const server = serverWithAlias();
  const seen: (string | undefined)[] = [];
  server.around((request, next) => {
    if (request.method === 'tools/call') seen.push(request.name);
    return next();
  });
  server.observe({ ended: ({ request }) => void seen.push(request.name) });
  const client = await connect(inMemory(server));
  const result = await client.callTool('plus', { a: 2 });
  expect(result.content).toEqual([{ type: 'text', text: 'added 2' }]);
  expect(seen.filter((name) => name !== undefined)).toEqual(['add', 'add']);
  await client.close();
});

test('a redirect that throws a wire error rejects the call', async () => {
  const client = await connect(inMemory(serverWithAlias()));
  await expect(client.callTool('forbidden', {})).rejects.toThrow('Unknown tool: forbidden');
  await client.close();
});
