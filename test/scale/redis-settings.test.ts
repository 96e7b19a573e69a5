// The settings of the program that say how Redis is reached, and tasks while it fails. MOORING_TEST_FULL=1: also a failover.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createCertificate } from '../support/certificate.ts';
import { useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';
import { HttpTestClient } from '../support/http-client.ts';
import { freePort, hasRedis, type RedisServer, startRedis, startSentinel } from '../support/redis.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startProgram } from '../support/workers.ts';
import { startScheduleProgram } from './support/program.ts';

const closers = useClosers(afterEach);
const timeout = 120_000;
const key = randomBytes(32).toString('base64');

async function startServer(...args: readonly string[]): Promise<RedisServer> {
  const redis = await startRedis(args);
  closers.push(() => redis.close());
  return redis;
}

async function start(args: readonly string[], env: Record<string, string> = {}, settings: object = {}) {
  const program = await startScheduleProgram(args, { MOORING_KEY: key, ...env }, settings);
  closers.push(() => program.close());
  const client = new HttpTestClient(Number(new URL(program.address).port));
  closers.push(() => client.close());
  return client;
}

const ping = async (client: HttpTestClient, session: string): Promise<number> =>
  (await client.session(session, 'ping')).status;
const endSession = async (client: HttpTestClient, session: string): Promise<number> =>
  (await client.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': session } })).status;

/** Starts a task and returns its id. */
async function startJob(client: HttpTestClient, session: string, ms: number): Promise<string> {
  const params = { name: 'job', arguments: { ms, text: 'done' }, task: {} };
  const { json } = await client.session(session, 'tools/call', params);
  return (json.result as { task: { taskId: string } }).task.taskId;
}

const statusOf = async (client: HttpTestClient, session: string, taskId: string): Promise<unknown> => {
  const { json } = await client.session(session, 'tasks/get', { taskId });
  return json?.result?.['status'] ?? json?.error?.code;
};
const resultOf = async (client: HttpTestClient, session: string, taskId: string): Promise<unknown> =>
  (await client.session(session, 'tasks/result', { taskId })).json.result?.['content'];
const done = [{ type: 'text', text: 'done' }];

describe.skipIf(!hasRedis())('with Redis', () => {
  test('TLS with an authority of its own, certificates of clients, and a password from a file', {
    timeout,
  }, async () => {
    const folder = temporaryFolder();
    const { cert, key: tlsKey } = createCertificate('localhost', 10);
    const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem'), password: join(folder, 'password') };
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, tlsKey);
    writeFileSync(files.password, 'a secret\n', { mode: 0o600 });
    const port = await freePort();
    await startServer(
      ...['--requirepass', 'a secret', '--tls-port', String(port), '--tls-auth-clients', 'yes'],
      ...['--tls-cert-file', files.cert, '--tls-key-file', files.key, '--tls-ca-cert-file', files.cert],
    );
    const store = ['--store', `rediss://localhost:${port}`];
    const own = { MOORING_REDIS_CERT_FILE: files.cert, MOORING_REDIS_KEY_FILE: files.key };
    const env = { ...own, MOORING_REDIS_CA_FILE: files.cert };
    const [a, b] = await Promise.all([
      start([...store, '--store-ca', files.cert, '--store-password-file', files.password], own),
      start(store, { ...own, NODE_EXTRA_CA_CERTS: files.cert, MOORING_REDIS_PASSWORD: 'a secret' }),
    ]);
    const session = await a.initialize();
    expect(await ping(b, session)).toBe(200);
    expect(await endSession(a, session)).toBe(200);
    expect(await ping(b, session)).toBe(404);
    writeFileSync(files.password, 'another one');
    const wrong = startProgram(
      ['everything', '--http', '--port', '0', ...store, '--store-password-file', files.password],
      { ...env, MOORING_KEY: key },
    );
    expect(await wrong.exited).toBe(1);
    expect(wrong.lines.join('\n')).toContain('WRONGPASS');
    expect(wrong.lines.join('\n')).not.toContain('another one');
  });

  test('Sentinels that have a password of their own', { timeout }, async () => {
    const redis = await startServer();
    const sentinel = await startSentinel('main', redis.port, ['requirepass guarded']);
    closers.push(() => sentinel.close());
    const store = ['--store', `redis-sentinel://127.0.0.1:${sentinel.port}#main`];
    const client = await start(store, { MOORING_REDIS_SENTINEL_PASSWORD: 'guarded' });
    const session = await client.initialize();
    expect(await endSession(client, session)).toBe(200);
    expect(await ping(client, session)).toBe(404);
  });

  test('redis.waitReplicas: the end of a session is not confirmed until a replica of Redis has it', {
    timeout,
  }, async () => {
    const redis = await startServer('--repl-diskless-sync-delay', '0');
    const client = await start(['--store', redis.url], {}, { redis: { waitReplicas: 1 } });
    const session = await client.initialize();
    expect(await endSession(client, session)).toBe(503);
    const replica = await startServer('--replicaof', '127.0.0.1', String(redis.port));
    await expect.poll(() => replica.command('ROLE'), { timeout: 20_000 }).toContain('connected');
    const again = await client.initialize();
    await expect.poll(() => endSession(client, again), { timeout: 20_000 }).toBe(200);
    expect(await ping(client, again)).toBe(404);
  });

  test('tasks while Redis is stopped, and when it is empty afterwards', { timeout }, async () => {
    const redis = await startServer();
    const [a, b] = await Promise.all([start(['--store', redis.url]), start(['--store', redis.url])]);
    const session = await a.initialize();
    const running = await startJob(a, session, 500);
    const ended = await startJob(a, session, 1);
    await expect.poll(() => statusOf(a, session, ended), { timeout: 20_000 }).toBe('completed');
    redis.pause();
    const params = { name: 'job', arguments: { ms: 1, text: 'x' }, task: {} };
    // Its record could not be stored, so it does not begin.
    const rejected = await a.session(session, 'tools/call', params);
    expect(rejected.json?.error?.code ?? rejected.status).toSatisfy((code) => code === -32603 || code === 503);
    redis.resume();
    // The task that ended meanwhile is stored then, and every process has its result.
    await expect.poll(() => statusOf(b, session, running), { timeout: 30_000 }).toBe('completed');
    expect(await resultOf(b, session, running)).toEqual(done);
    await redis.kill();
    await redis.restart();
    const reopen = async (): Promise<unknown> => statusOf(a, await a.initialize(), ended);
    await expect.poll(reopen, { timeout: 30_000 }).toBe(-32602);
  });

  test.skipIf(!isFullRun)('a failover: sessions and tasks are as they were', { timeout }, async () => {
    const first = await startServer('--repl-diskless-sync-delay', '0');
    const second = await startServer('--replicaof', '127.0.0.1', String(first.port));
    const sentinel = await startSentinel('main', first.port);
    closers.push(() => sentinel.close());
    const store = ['--store', `redis-sentinel://127.0.0.1:${sentinel.port}#main`];
    const settings = { redis: { waitReplicas: 1 } };
    const [a, b] = await Promise.all([start(store, {}, settings), start(store, {}, settings)]);
    await expect.poll(() => second.command('ROLE'), { timeout: 20_000 }).toContain('connected');
    await expect
      .poll(() => sentinel.command('SENTINEL', 'REPLICAS', 'main'), { timeout: 30_000 })
      .toContain(String(second.port));
    const [open, ended] = [await a.initialize(), await a.initialize()];
    const [before, running] = [await startJob(a, open, 1), await startJob(a, open, 4_000)];
    await expect.poll(() => statusOf(b, open, before), { timeout: 20_000 }).toBe('completed');
    expect(await endSession(a, ended)).toBe(200);
    await first.kill();
    await expect
      .poll(() => sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main'), { timeout: 40_000 })
      .toContain(String(second.port));
    for (const each of [a, b]) {
      await expect.poll(() => ping(each, open), { timeout: 40_000 }).toBe(200);
      await expect.poll(() => ping(each, ended), { timeout: 40_000 }).toBe(404);
    }
    expect(await resultOf(b, open, before)).toEqual(done);
    // There is no other replica now, so that nothing which waits for one is confirmed; what is stored is stored.
    await expect.poll(() => statusOf(b, open, running), { timeout: 40_000 }).toBe('completed');
  });
});
