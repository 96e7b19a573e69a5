// A request that names two sessions: which of them is meant must not depend on who reads it.

import { describe, expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { both, HttpTestClient } from '../support/http-client.ts';
import { profileNames } from '../support/profile-names.ts';
import { useHome } from '../support/program.ts';

const home = useHome();

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** The transport is the same in all profiles; one has another name for the header and another path. */
const served = isFullRun ? profileNames : ['local', 'reference', 'system'];

describe.each(served)('%s', (profile) => {
  test('a request with two different session ids is rejected with 400, and both sessions go on', async () => {
    const { url } = await home.serve([profile, '--data', home.file('data')]);
    const client = new HttpTestClient(Number(new URL(url).port));
    const [one, two] = [await client.initialize(), await client.initialize()];
    const aliases = profile === 'reference' ? ['X-Session-ID'] : [];
    const pairs: Record<string, string | string[]>[] = [
      { 'Mcp-Session-Id': [one, two] },
      { 'Mcp-Session-Id': [one, 'made-up'] },
      { 'Mcp-Session-Id': `${one}, ${two}` },
      { 'Mcp-Session-Id': `${one},${two}` },
      ...aliases.flatMap((alias) => [
        { 'Mcp-Session-Id': one, [alias]: two },
        { [alias]: [one, two] },
        { 'Mcp-Session-Id': one, [alias]: 'made-up' },
      ]),
    ];
    const requests = [
      { method: 'POST', body: ping },
      { method: 'POST', body: { jsonrpc: '2.0', id: 2, method: 'initialize', params: {} } },
      { method: 'GET' },
      { method: 'DELETE' },
      ...(profile === 'reference' ? [{ method: 'GET', path: '/mcp/sse' }] : []),
    ];
    for (const headers of pairs) {
      for (const request of requests) {
        const accept = request.method === 'GET' ? 'text/event-stream' : both;
        const answer = await client.send({ ...request, headers: { Accept: accept, ...headers } });
        const what = `${request.method} ${JSON.stringify(Object.keys(headers))}`;
        expect(answer.status, what).toBe(400);
        expect(answer.text, what).toContain('different session ids');
      }
    }
    for (const id of [one, two]) {
      expect((await client.session(id, 'tools/list')).status).toBe(200);
      // One id under both names is one id.
      const named = Object.fromEntries(aliases.map((alias) => [alias, id]));
      expect((await client.session(id, 'tools/list', {}, { headers: named })).status).toBe(200);
    }
    client.close();
  });

  test('so is a message for two event streams', async () => {
    const { url } = await home.serve([profile, '--data', home.file('data')]);
    const client = new HttpTestClient(Number(new URL(url).port));
    const open = async (): Promise<{ path: string; end(): void }> => {
      const response = await client.open({ method: 'GET', path: '/sse', headers: { Accept: 'text/event-stream' } });
      const path = await new Promise<string>((found) => {
        response.on('data', (chunk: Buffer) => found(/data: (\S+)/.exec(chunk.toString())?.[1] as string));
      });
      return { path, end: () => response.destroy() };
    };
    const [one, two] = [await open(), await open()];
    const id = new URLSearchParams(two.path.split('?')[1]).get('sessionId');
    const answer = await client.send({ path: `${one.path}&sessionId=${id}`, body: ping });
    expect(answer.status).toBe(400);
    expect((await client.send({ path: one.path, body: ping })).status).toBe(202);
    one.end();
    two.end();
    client.close();
  });
});
