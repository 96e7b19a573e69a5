import { expect, test } from 'vitest';
import { connect } from './connect.ts';

test.each([undefined, null, 8000])('connect(%j) says what a server can be', async (target) => {
  await expect(connect(target as never)).rejects.toMatchObject({
    code: 'configuration',
    message: expect.stringContaining('connect() needs a server: a URL, a command line such as "node server.mjs"'),
  });
});

test('a server of this process is connected to through inMemory', async () => {
  const server = { tool: () => ({}), connect: () => ({}) };
  await expect(connect(server as never)).rejects.toMatchObject({
    code: 'configuration',
    message: expect.stringContaining('connect(inMemory(server))'),
  });
});
