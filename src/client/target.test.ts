import { expect, test } from 'vitest';
import { connect } from './connect.ts';
import { inMemory } from './transports/in-memory.ts';

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

test.each([
  [{ comand: 'node' }, 'A server entry needs a "command" or a "url"; it has only "comand"'],
  [{}, 'A server entry needs a "command" or a "url"; it has neither'],
  [
    { mcpServers: { notes: { command: 'node' } } },
    'This is a whole configuration; connect to one entry of its mcpServers',
  ],
  [{ url: 'nowhere' }, '"nowhere" is not a valid URL'],
  [
    { url: 'localhost:3000/mcp' },
    '"localhost:3000/mcp" is not a valid URL: it needs a scheme, as in "http://localhost:3000/mcp"',
  ],
  [
    { url: 'example.com/mcp' },
    '"example.com/mcp" is not a valid URL: it needs a scheme, as in "https://example.com/mcp"',
  ],
  [
    { command: 'node', args: 'server.mjs' },
    '"args" of a server entry must be a list, with one string for each argument',
  ],
])('connect(%j) says what is wrong with the entry', async (target, message) => {
  await expect(connect(target as never)).rejects.toMatchObject({ code: 'configuration', message });
});

test.each([
  ['localhost:3000/mcp', 'http://localhost:3000/mcp'],
  ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ['example.com/mcp', 'https://example.com/mcp'],
  [['localhost:3000/mcp'], 'http://localhost:3000/mcp'],
  [{ command: 'localhost:3000/mcp' }, 'http://localhost:3000/mcp'],
])('connect(%j) says that a URL needs its scheme', async (target, url) => {
  await expect(connect(target)).rejects.toMatchObject({
    code: 'spawn-failed',
    message: expect.stringContaining(`A URL needs its scheme: "${url}"`),
  });
});

test('a program that does not exist, and is no URL, is reported without a scheme', async () => {
  await expect(connect('no-such-server.js')).rejects.toMatchObject({
    message: expect.not.stringContaining('scheme'),
  });
});

test('inMemory needs a server, and connect an object of options', async () => {
  expect(() => inMemory(undefined as never)).toThrow('inMemory needs a server as its first argument');
  await expect(connect('http://127.0.0.1:1', null as never)).rejects.toThrow(
    'The options of connect must be an object',
  );
});
