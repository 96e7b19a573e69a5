// Operation: health, metrics, request ids, and closing a server.

import { describe, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { createServer, type HttpOptions, type Logger } from '../../src/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import { EventReader, HttpTestClient, modernBody, modernHeaders } from '../support/http-client.ts';
import { startHttpProcess, useHttpProcess } from '../support/http-process.ts';

const closers = useClosers();
const started: string[] = [];
let release: () => void = () => {};

async function start(options: HttpOptions = {}) {
  const server = createServer({ name: 'operations', version: '1.0.0' });
  server.tool('echo', { description: 'Says so', run: () => 'so' });
  server.tool('slow', {
    description: 'Waits to be released',
    run: () =>
      new Promise<string>((resolve) => {
        started.push('slow');
        release = () => resolve('released');
      }),
  });
  server.tool('stuck', {
    description: 'Never ends',
    run: () => {
      started.push('stuck');
      return new Promise(() => {});
    },
  });
  const { http, client } = await startHttp(closers, server, { graceMs: 20_000, ...options });
  return { server, http, client };
}

const slow = { name: 'slow' };

describe('health', () => {
  test('reports that the process is alive and whether it accepts requests', async () => {
    const { client } = await start();
    for (const path of ['/health', '/health/ready', '/health/live']) {
      const answer = await client.send({ method: 'GET', path });
      expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
    }
    expect((await client.send({ method: 'HEAD', path: '/health' })).status).toBe(200);
    expect((await client.send({ method: 'POST', path: '/health', body: {} })).status).toBe(405);
  });

  test('can have another path, and be switched off', async () => {
    const { client } = await start({ healthPath: '/up' });
    expect((await client.send({ method: 'GET', path: '/up' })).status).toBe(200);
    const { client: without } = await start({ healthPath: false });
    expect((await without.send({ method: 'GET', path: '/health' })).status).toBe(404);
  });
});

describe('metrics', () => {
  test('are served when configured, and count what happened', async () => {
    const { client } = await start({ metricsPath: '/metrics' });
    await client.modern('tools/call', { name: 'echo' });
    await client.modern('tools/call', { name: 'echo' });
    await client.modern('tools/call', { name: 'nope' });
    await client.modern('tools/call', { name: 'echo' }, { headers: { 'Mcp-Name': 'other' } });
    const { text, headers } = await client.send({ method: 'GET', path: '/metrics' });
    expect(headers['content-type']).toContain('text/plain; version=0.0.4');
    expect(text).toContain('mooring_requests_total{method="tools/call",outcome="ok"} 2');
    expect(text).toContain('mooring_requests_total{method="tools/call",outcome="rejected"} 1');
    expect(text).toContain('mooring_http_responses_total{status="200"} 3');
    expect(text).toContain('mooring_http_responses_total{status="400"} 1');
    expect(text).toContain('mooring_request_duration_seconds_count{method="tools/call"} 3');
    expect(text).toContain('mooring_tool_calls_total{tool="echo",outcome="ok"} 2');
    // A name that a caller made up is no label.
    expect(text).toContain('mooring_tool_calls_total{tool="_other",outcome="rejected"} 1');
    expect(text).not.toContain('nope');
    const called = 'mcp_method_name="tools/call",gen_ai_tool_name="echo"';
    const buckets = [...text.matchAll(/mcp_server_operation_duration_seconds_bucket\{(.*),le="([^"]+)"\} 2/g)];
    expect(buckets.filter(([, labels]) => labels === called).map(([, , le]) => le)).toContain('300');
    expect(text).toContain(`mcp_server_operation_duration_seconds_count{${called}} 2`);
    expect(text).toMatch(/operation_duration_seconds_count\{.*gen_ai_tool_name="_other",error_type="-?\d+"\} 1/);
    expect(text).toContain('# TYPE mcp_server_session_duration_seconds histogram');
    expect(text).toMatch(/^mooring_http_connections 1$/m);
    for (const line of text.trim().split('\n'))
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? [\d.e+-]+)$/);
  });

  test('have the durations of sessions, and of requests that the server sends', async () => {
    const { server, http, client } = await start({ metricsPath: '/metrics' });
    server.tool('ask', {
      run: async (_args, ctx) => (await ctx.elicit('Sure?', { type: 'object', properties: {} })).action,
    });
    const handlers = { elicit: () => ({ action: 'accept' as const, content: {} }) };
    const session = await connect(http.url, { revision: '2025-11-25', handlers });
    await session.callTool('ask');
    await session.close();
    const { text } = await client.send({ method: 'GET', path: '/metrics' });
    expect(text).toContain('mcp_server_session_duration_seconds_count{network_protocol_name="http"} 1');
    expect(text).toContain('mcp_client_operation_duration_seconds_count{mcp_method_name="elicitation/create"} 1');
    expect(text).toContain('# TYPE mcp_client_session_duration_seconds histogram');
  });

  test('are not served by default', async () => {
    const { client } = await start();
    expect((await client.send({ method: 'GET', path: '/metrics' })).status).toBe(404);
  });
});

test('a response and its log line have the same id', async () => {
  const lines: { message: string; fields: Record<string, unknown> | undefined }[] = [];
  const write = (message: string, fields?: Record<string, unknown>): void => void lines.push({ message, fields });
  const logger: Logger = {
    debug: write,
    info: write,
    notice: write,
    warn: write,
    error: write,
    child: () => logger,
    enabled: () => true,
  };
  const { client } = await start({ logger });
  const answer = await client.modern('tools/call', { name: 'echo' });
  const id = answer.headers['x-request-id'];
  expect(id).toBeTruthy();
  expect(lines.find(({ message }) => message === 'request')?.fields).toMatchObject({
    requestId: id,
    method: 'POST',
    path: '/mcp',
    status: 200,
  });
  await client.modern('tools/call', { name: 'echo' }, { headers: { Origin: 'https://evil.test' } });
  expect(lines.find(({ message }) => message === 'access denied')?.fields).toMatchObject({
    what: 'origin',
    origin: 'https://evil.test',
  });
  const session = await client.initialize();
  await client.session(session, 'ping');
  expect(JSON.stringify(lines)).not.toContain(session);
});

describe('closing', () => {
  test('open calls are answered, streams end, new requests are rejected', async () => {
    const { http, client } = await start();
    const session = await client.initialize();
    const listening = new EventReader(
      await client.open({
        body: modernBody('subscriptions/listen', { notifications: {} }, 'sub'),
        headers: modernHeaders('subscriptions/listen'),
      }),
    );
    await listening.until(1);
    const standing = new EventReader(
      await client.open({ method: 'GET', headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': session } }),
    );
    const two = new EventReader(
      await client.open({ method: 'GET', path: '/sse', headers: { Accept: 'text/event-stream' } }),
    );
    const begun = started.length;
    const stateless = client.modern('tools/call', slow);
    await expect.poll(() => started.length).toBe(begun + 1);
    const releaseAlone = release;
    const within = client.session(session, 'tools/call', slow);
    await expect.poll(() => started.length).toBe(begun + 2);

    const closing = http.close();
    const ended = await listening.end();
    expect(ended.at(-1)).toMatchObject({ id: 'sub', result: { resultType: 'complete' } });
    releaseAlone();
    release();
    for (const answer of [await stateless, await within]) {
      expect([answer.status, answer.headers['connection']]).toEqual([200, 'close']);
      expect(answer.text).toContain('released');
    }
    await Promise.all([standing.end(), two.end(), closing]);
    await expect(client.modern('tools/call', { name: 'echo' })).rejects.toThrow();
  });

  test('on a connection that is still open a new request gets 503', async () => {
    const { http, client } = await start();
    const begun = started.length;
    const open = client.modern('tools/call', slow);
    await expect.poll(() => started.length).toBe(begun + 1);
    const idle = new HttpTestClient(http.port);
    await idle.modern('tools/call', { name: 'echo' });
    const closing = http.close();
    const late = await idle.modern('tools/call', { name: 'echo' }).catch(() => undefined);
    if (late !== undefined) expect([late.status, late.headers['connection']]).toEqual([503, 'close']);
    release();
    expect((await open).status).toBe(200);
    await closing;
    idle.close();
  });

  test('a call that does not end in time is answered with an error', async () => {
    const { http, client } = await start({ graceMs: 50 });
    const session = await client.initialize();
    const begun = started.length;
    const stuck = [
      client.modern('tools/call', { name: 'stuck' }),
      client.session(session, 'tools/call', { name: 'stuck' }),
    ];
    await expect.poll(() => started.length).toBe(begun + 2);
    await http.close();
    for (const answer of await Promise.all(stuck)) expect(answer.json.error?.code).toBe(-32603);
  });

  test('closing twice has the same effect as closing once', async () => {
    const { http } = await start();
    await Promise.all([http.close(), http.close()]);
  });
});

describe('a process of its own', () => {
  useHttpProcess();

  test('SIGTERM lets an open call finish and exits with 0', async () => {
    const { child, exit, client } = await startHttpProcess();
    const open = client.modern('tools/call', { name: 'wait' });
    await expect.poll(async () => (await client.modern('tools/call', { name: 'waiting' })).text).toContain('"1"');
    child.kill('SIGTERM');
    expect((await open).text).toContain('waited');
    expect(await exit).toBe(0);
    client.close();
  });

  test('a second signal exits immediately', async () => {
    const { child, exit, client } = await startHttpProcess();
    client.modern('tools/call', { name: 'for_ever' }).catch(() => {});
    await expect.poll(async () => (await client.modern('tools/call', { name: 'waiting' })).text).toContain('"1"');
    child.kill('SIGTERM');
    await expect
      .poll(() =>
        client.send({ method: 'GET', path: '/health' }).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .not.toBe(200);
    child.kill('SIGTERM');
    expect(await exit).toBe(143);
    client.close();
  });
});
