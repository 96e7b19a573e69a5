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

/** Two gateways in front of one server each, which adds a line to `called` for each call. */
async function startTwo() {
  const redis = await startRedis();
  closers.push(() => redis.close());
  const called = home.file('called.txt');
  const entry = { command: process.execPath, args: [program, called] };
  const config = writeConfig(home, { mcpServers: { one: entry }, gateway: { views: { v: { servers: ['one'] } } } });
  const env = { MOORING_KEY: randomBytes(32).toString('base64') };
  const args = ['--config', config, '--store', redis.url];
  const start = (): Promise<HttpGateway> => startHttp(home, args, env);
  const [a, b] = (await Promise.all([start(), start()])) as [HttpGateway, HttpGateway];
  return { redis, a, b, called };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(!hasRedis())('with Redis', () => {
  test('a held call goes on from another gateway, at every address; if its gateway was killed, it is lost and not repeated', {
    timeout: 120_000,
  }, async () => {
    const { a, b, called } = await startTwo();
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

  test('a held call goes on when Redis was emptied and its gateway has not connected again yet', {
    timeout: 120_000,
  }, async () => {
    const { redis, a, b, called } = await startTwo();
    const asked = await call(a, '/mcp', 'one__greet');
    a.child.kill('SIGSTOP');
    await redis.command('FLUSHALL');
    // The other gateway has looked for the processes by then.
    await sleep(1_500);
    const answer = call(b, '/mcp', 'one__greet', retryOf(asked));
    await sleep(500);
    a.child.kill('SIGCONT');
    expect((await answer).result).toMatchObject({ content: [{ text: 'Hello Ada' }] });
    expect(readFileSync(called, 'utf8')).toBe('called\n');
  });

  test('while Redis is gone, a retry at another gateway is told to try again; it has the result when Redis is back', {
    timeout: 120_000,
  }, async () => {
    const { redis, a, b, called } = await startTwo();
    const asked = await call(a, '/mcp', 'one__greet');
    await redis.kill();
    const begunMs = performance.now();
    const rejected = await call(b, '/mcp', 'one__greet', retryOf(asked));
    expect(rejected.error).toMatchObject({ code: -32603, message: expect.stringContaining('try again later') });
    expect(performance.now() - begunMs).toBeLessThan(30_000);
    await redis.restart();
    const again = async (): Promise<unknown> =>
      (await call(b, '/mcp', 'one__greet', retryOf(asked))).result?.['content'];
    await expect.poll(again, { timeout: 30_000 }).toMatchObject([{ text: 'Hello Ada' }]);
    const here = await call(a, '/mcp', 'one__greet', retryOf(asked));
    expect(here.result).toMatchObject({ content: [{ text: 'Hello Ada' }] });
    expect(readFileSync(called, 'utf8')).toBe('called\n');
  });
});
