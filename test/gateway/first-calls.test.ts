// Calls before the lists of all servers are known: each waits for its own server only, and says why it cannot be called.

import { afterEach, expect, test } from 'vitest';
import { inMemory, type Transport } from '../../src/client/index.ts';
import { createGateway, type Gateway } from '../../src/gateway/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { scripted } from './answers.ts';
import { clientOf, gatewayConfig, upstream, view } from './fixture.ts';

const closers = useClosers(afterEach);

function good(): Server {
  const server = createServer({ name: 'good', version: '1.0.0', logger: false });
  server.tool('work', { run: () => 'works' });
  server.prompt('brief', { get: () => 'brief' });
  return server;
}

const never = scripted({ 'tools/list': () => undefined });

interface Given {
  /** Which names the only view shows. */
  readonly exclude?: readonly string[];
  readonly firstListMs?: number;
}

/** A server that works, and one before it that does what `bad` does; without it, one that cannot be started. */
function gatewayWith(bad: (() => Transport) | undefined, given: Given = {}): Gateway {
  const { exclude = [], firstListMs = 60_000 } = given;
  const servers = [
    upstream('bad', { revision: '2025-06-18', entry: { command: 'no-such-program-of-this-test' } }),
    upstream('good'),
  ];
  const config = gatewayConfig(servers, { firstListMs, defaultView: view('', { tools: { exclude } }) });
  const gateway = createGateway(config, {
    logger: false,
    target: ({ slug }) => (slug === 'bad' ? bad : inMemory(good())),
  });
  closers.push(() => gateway.close());
  return gateway;
}

test('the first call of a tool, or request of a prompt, does not wait for the lists of other servers', async () => {
  const client = await clientOf(closers, gatewayWith(never).server);
  expect(await client.callTool('good__work')).toMatchObject({ content: [{ text: 'works' }] });
  expect(await client.getPrompt('good__brief')).toMatchObject({ messages: [{ content: { text: 'brief' } }] });
  await expect(client.callTool('good__unknown')).rejects.toThrow('Unknown tool: good__unknown');
});

test('a tool of a server whose tools are not known, as it cannot be started, is not called unknown', async () => {
  const client = await clientOf(closers, gatewayWith(undefined).server);
  const reason = 'The server bad cannot be used: it could not be started';
  await expect(client.callTool('bad__work')).rejects.toThrow(reason);
  await expect(client.callTool('bad__work')).rejects.toThrow(reason);
  await expect(client.getPrompt('bad__brief')).rejects.toThrow(reason);
});

test('a tool of a server that is slow with its first list can be called later', async () => {
  const client = await clientOf(closers, gatewayWith(never, { firstListMs: 50 }).server);
  await expect(client.callTool('bad__work')).rejects.toThrow('The server bad cannot be used: it has not listed its');
});

test('at the address of one server, too, a tool is not called unknown before the first list is there', async () => {
  const gateway = gatewayWith(never, { firstListMs: 50 });
  const client = await clientOf(closers, gateway.serverAt('/s/bad') as Server);
  await expect(client.callTool('work')).rejects.toThrow('The server bad cannot be used: it has not listed its');
  await expect(client.getPrompt('brief')).rejects.toThrow('The server bad cannot be used: it has not listed its');
});

test('a call makes the gateway read the lists of a server again that could not be read', async () => {
  let lists = 0;
  const late = scripted({
    'tools/list': (_params, send, id) =>
      ++lists === 1
        ? void send({ id, error: { code: -32603, message: 'still loading' } })
        : { tools: [{ name: 'work', inputSchema: { type: 'object' } }] },
    'tools/call': () => ({ content: [{ type: 'text', text: 'late' }] }),
  });
  const client = await clientOf(closers, gatewayWith(late).server);
  await expect(client.callTool('bad__work')).rejects.toThrow('still loading');
  await expect.poll(() => client.callTool('bad__work').catch(String)).toMatchObject({ content: [{ text: 'late' }] });
});

test('a tool that a view does not show is unknown, whatever the state of its server', async () => {
  const client = await clientOf(closers, gatewayWith(undefined, { exclude: ['bad__*'] }).server);
  await expect(client.callTool('bad__work')).rejects.toThrow('Unknown tool: bad__work');
});

test('a tool that a policy hides is unknown, whatever the state of its server', async () => {
  const gateway = gatewayWith(undefined);
  gateway.server.restrict((_kind, key) => !key.startsWith('bad__'));
  const client = await clientOf(closers, gateway.server);
  await expect(client.callTool('bad__work')).rejects.toThrow('Unknown tool: bad__work');
  await expect(client.getPrompt('bad__brief')).rejects.toThrow('Unknown prompt: bad__brief');
});
