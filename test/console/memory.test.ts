// What the console keeps of large messages: their beginnings, in the built program with a small heap.

import { expect, test, vi } from 'vitest';
import { mallory, useAttackedServer } from '../support/attacked-server.ts';
import { modernBody, modernHeaders } from '../support/http-client.ts';

const { start } = useAttackedServer();
vi.setConfig({ testTimeout: 120_000 });

/** In MiB. It is 180; while pieces of messages kept all of them in memory, it was above 400, and after twice as many the process ended. */
const maxMemory = 350;
const repeats = 10;

test('long names, ids and texts are not kept as a whole', async () => {
  const { port, client, peak } = await start('reference', '--console', '--console-keep');
  const long = 'word 12345 '.repeat(400_000);
  const clientInfo = { 'io.modelcontextprotocol/clientInfo': { name: long, version: '1' } };
  const requests = [
    modernBody(long, {}),
    modernBody('ping', {}, long),
    modernBody('ping', { _meta: clientInfo }),
    modernBody('tools/call', { name: long }),
    modernBody('tools/call', { name: 'add_note', arguments: { content: long } }),
    modernBody('resources/read', { uri: long }),
    modernBody('tasks/get', { taskId: long }),
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: long, taskId: long } },
  ].map((body) => JSON.stringify(body));
  const headers = { ...modernHeaders('ping', {}), 'Content-Type': 'application/json', ...mallory };
  for (let n = 0; n < repeats; n++) {
    for (const body of requests) {
      const { status } = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers, body });
      expect(status).toBeLessThan(500);
    }
  }
  expect((await client.modern('tools/list', {}, { headers: mallory })).status).toBe(200);
  expect(peak()).toBeLessThan(maxMemory);
});
