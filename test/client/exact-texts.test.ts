// Arguments and responses as texts: integers beyond 2^53 keep their digits.

import { expect, test } from 'vitest';
import { connect, inMemory } from '../../src/client/index.ts';
import { createServer } from '../../src/index.ts';

const server = createServer({ name: 'exact', version: '1.0.0' });
server.tool('echo', { run: (args) => JSON.stringify(args) });

test('the arguments are sent as they are written', async () => {
  const sent: string[] = [];
  const client = await connect(inMemory(server), {
    onMessage: (direction, text) => direction === 'out' && sent.push(text),
  });
  await client.callTool('echo', {}, { argumentsText: '{"id":12345678901234567890}' });
  expect(sent.at(-1)).toContain('"arguments":{"id":12345678901234567890}');
  await client.close();
});

test('the caller gets each response as it arrived, and an error of its listener ends only the call', async () => {
  const client = await connect(inMemory(server));
  const texts: string[] = [];
  await client.callTool('echo', { a: 1 }, { onResponse: (text) => texts.push(text) });
  expect(texts).toHaveLength(1);
  expect(JSON.parse(texts[0] as string)).toMatchObject({ result: { content: [{ type: 'text' }] } });
  const failing = client.callTool(
    'echo',
    {},
    {
      onResponse: () => {
        throw new Error('listener');
      },
    },
  );
  await expect(failing).rejects.toThrow('listener');
  await expect(client.callTool('echo')).resolves.toBeDefined();
  await client.close();
});
