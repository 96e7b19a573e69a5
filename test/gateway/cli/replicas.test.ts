// Gateways on several machines that share Redis: a stateless client may reach another one with each request.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { useClosers } from '../../support/closers.ts';
import { HttpTestClient, type Message } from '../../support/http-client.ts';
import { useHome } from '../../support/program.ts';
import { hasRedis, startRedis } from '../../support/redis.ts';
import { type HttpGateway, startHttp, writeConfig } from './support.ts';

const home = useHome();
const closers = useClosers(afterEach);
const program = join(import.meta.dirname, '../fixtures/servers/asking.mjs');

type Result = Readonly<Record<string, unknown>> & { readonly inputRequests?: Readonly<Record<string, unknown>> };

async function call({ url }: HttpGateway, path: string, name: string, retry: object = {}): Promise<Message> {
  const client = new HttpTestClient(Number(new URL(url).port));
  closers.push(() => client.close());
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
  const params = { name, arguments: {}, ...retry };
  const { json, events } = await client.modern('tools/call', params, { path, meta });
  const last = events.at(-1)?.data;
  return last === undefined ? json : (JSON.parse(last) as Message);
}

function retryOf({ result }: Message): object {
  const { inputRequests = {}, requestState } = result as Result;
  const answer = { action: 'accept', content: { name: 'Ada' } };
  const keys = Object.keys(inputRequests);
  return { inputResponses: Object.fromEntries(keys.map((key) => [key, answer])), requestState };
}

describe.skipIf(!hasRedis())('with Redis', () => {
  test('a held call goes on from another gateway, at every address; if its gateway was killed, it is lost and not repeated', {
    timeout: 120_000,
  }, async () => {
    const redis = await startRedis();
    closers.push(() => redis.close());
    const called = home.file('called.txt');
    const entry = { command: process.execPath, args: [program, called] };
    const config = writeConfig(home, { mcpServers: { one: entry }, gateway: { views: { v: { servers: ['one'] } } } });
    const env = { MOORING_KEY: randomBytes(32).toString('base64') };
    const args = ['--config', config, '--store', redis.url];
    const start = (): Promise<HttpGateway> => startHttp(home, args, env);
    const [a, b] = (await Promise.all([start(), start()])) as [HttpGateway, HttpGateway];
    const addresses = [
      ['/mcp', 'one__greet'],
      ['/mcp/v/v', 'one__greet'],
      ['/mcp/s/one', 'greet'],
    ] as const;
    for (const [path, name] of addresses) {
      const asked = await call(a, path, name);
      expect(asked.result).toMatchObject({ resultType: 'input_required' });
      const answered = await call(b, path, name, retryOf(asked));
      expect(answered.result).toMatchObject({ content: [{ text: 'Hello Ada' }] });
    }
    const asked = await call(a, '/mcp', 'one__greet');
    const gone = new Promise((resolve) => a.child.once('exit', resolve));
    a.child.kill('SIGKILL');
    await gone;
    const lost = await call(b, '/mcp', 'one__greet', retryOf(asked));
    expect(lost.error).toMatchObject({ code: -32603, data: { reason: 'held-call-lost', mayHaveRun: true } });
    expect(readFileSync(called, 'utf8')).toBe('called\n'.repeat(addresses.length + 1));
  });
});
