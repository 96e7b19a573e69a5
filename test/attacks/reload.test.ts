// SIGHUP: a server in the background reads its settings again, a server on a pipe drains, and neither is killed by it. A
// token that was revoked ends at once, with everything that was opened with it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { connect } from '../../src/client/index.ts';
import { createToken } from '../../src/security/auth/index.ts';
import { isFullRun } from '../support/full.ts';
import { both, EventReader, HttpTestClient } from '../support/http-client.ts';
import { profileNames } from '../support/profile-names.ts';
import { cli, useHome } from '../support/program.ts';
import { hasTerminal } from '../support/terminal.ts';

const home = useHome();
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** Sends the signal and waits for what the server says about it. */
async function hangUp(child: ChildProcess, said: () => string, about: RegExp): Promise<void> {
  const before = said().length;
  child.kill('SIGHUP');
  await expect.poll(() => said().slice(before)).toMatch(about);
}
const readAgain = /settings reloaded/;

async function newToken(name: string): Promise<string> {
  const { stdout } = await home.run(['token', 'add', name, '--file', 'tokens.json']);
  return stdout.trim();
}
const revoke = (name: string) => home.run(['token', 'revoke', name, '--file', 'tokens.json']);

// By default over one of the two with each profile: signals are handled in the same place for all of them.
describe.each(profileNames.map((profile, at) => [profile, at] as const))('%s', (profile, at) => {
  test.runIf(isFullRun || at % 2 === 0)(
    'over HTTP goes on after SIGHUP, and SIGTERM after it still drains',
    async () => {
      const { url, child, said } = await home.serve([profile, '--data', home.file('data')]);
      for (let n = 0; n < 3; n++) await hangUp(child, said, readAgain);
      const client = await connect(url);
      expect((await client.listTools()).length).toBeGreaterThanOrEqual(0);
      await client.close();
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      expect(await closed).toEqual([0, null]);
      expect(said()).toContain('SIGTERM: draining');
    },
  );

  test.runIf(isFullRun || at % 2 === 1)('over stdio drains on SIGHUP and exits with 0', async () => {
    const child = home.start(['serve', profile, '--data', home.file('data')]);
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const first = once(lines, 'line');
    child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}\n');
    await first;
    const closed = once(child, 'close');
    child.kill('SIGHUP');
    expect(await closed).toEqual([0, null]);
  });
});

test('over stdio a call that is under way is answered before the server ends', async () => {
  const child = home.start(['serve', 'reference', '--data', home.file('data')]);
  const lines: { id?: number; result?: unknown }[] = [];
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => lines.push(JSON.parse(line)));
  const send = (message: object): void =>
    void child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2024-11-05' } });
  await expect.poll(() => lines.length).toBe(1);
  send({ id: 2, method: 'tools/call', params: { name: 'long_running_task', arguments: { steps: 1, delay: 0.5 } } });
  send({ id: 3, method: 'ping' });
  // The answer to the ping says that the call before it has begun.
  await expect.poll(() => lines.some(({ id }) => id === 3)).toBe(true);
  const closed = once(child, 'close');
  child.kill('SIGHUP');
  expect(await closed).toEqual([0, null]);
  expect(lines.find(({ id }) => id === 2)?.result).toMatchObject({ content: [{ type: 'text' }] });
});

/** Everything a caller may have open, each with the moment it ends. */
async function openEverything(url: string, token: string) {
  const client = new HttpTestClient(Number(new URL(url).port));
  const headers = bearer(token);
  const session = await client.initialize({ version: '2024-11-05', headers });
  const stream = async (path: string, more: object = {}): Promise<EventReader> => {
    const accept = { Accept: 'text/event-stream', ...headers, ...more };
    return new EventReader(await client.open({ method: 'GET', path, headers: accept }));
  };
  const call = {
    jsonrpc: '2.0',
    id: 9,
    method: 'tools/call',
    params: { name: 'long_running_task', arguments: { steps: 2, delay: 60 } },
  };
  const standing = await stream('/mcp', { 'Mcp-Session-Id': session });
  const older = await stream('/sse');
  const compat = await stream('/mcp/sse');
  const socket = new WebSocket(url.replace('http', 'ws'), { headers });
  const socketClosed = once(socket, 'close') as Promise<[number, Buffer]>;
  await once(socket, 'open');
  const pending = client
    .send({ body: call, headers: { ...headers, Accept: both, 'Mcp-Session-Id': session } })
    .then((answer) => answer.text)
    .catch((error: Error) => error.message);
  return { client, headers, session, streams: { standing, older, compat }, socket, socketClosed, pending };
}

test('a revoked token ends at once with all its streams, sockets and calls; another caller notices nothing', async () => {
  const [ada, bob] = [await newToken('ada'), await newToken('bob')];
  const args = ['reference', '--data', home.file('data'), '--token-file', home.file('tokens.json')];
  const { url, child, said } = await home.serve(args);
  const [hers, his] = [await openEverything(url, ada), await openEverything(url, bob)];

  await revoke('ada');
  // Until the file is read again nothing changes.
  expect((await hers.client.session(hers.session, 'ping', {}, { headers: hers.headers })).status).toBe(200);
  await hangUp(child, said, readAgain);

  for (const each of Object.values(hers.streams)) await each.end();
  expect((await hers.socketClosed)[0]).not.toBe(1000);
  expect(await hers.pending).not.toContain('"content"');
  for (const path of ['/mcp', '/sse', '/mcp/sse']) {
    const accept = { Accept: 'text/event-stream', ...hers.headers, 'Mcp-Session-Id': hers.session };
    expect((await hers.client.send({ method: 'GET', path, headers: accept })).status, path).toBe(401);
  }
  expect((await hers.client.session(hers.session, 'ping', {}, { headers: hers.headers })).status).toBe(401);
  const again = new WebSocket(url.replace('http', 'ws'), { headers: hers.headers });
  const [error] = (await once(again, 'error')) as [Error];
  expect(error.message).toContain('401');

  for (const each of Object.values(his.streams)) expect(each.ended).toBe(false);
  expect(his.socket.readyState).toBe(WebSocket.OPEN);
  const subscribed = await his.client.session(
    his.session,
    'resources/subscribe',
    { uri: 'server://counter' },
    {
      headers: his.headers,
    },
  );
  expect(subscribed.status).toBe(200);
  await his.client.session(his.session, 'tools/call', { name: 'increment_counter' }, { headers: his.headers });
  await his.streams.standing.until(1);
  expect(his.streams.standing.messages.some(({ method }) => method === 'notifications/resources/updated')).toBe(true);
  his.socket.close();
  for (const { client } of [hers, his]) client.close();
});

test('a token made while the server runs is accepted after SIGHUP, and revoking the last one admits no caller', async () => {
  const ada = await newToken('ada');
  const { url, child, said } = await home.serve(['local', '--data', home.file('data'), '--token-file', 'tokens.json']);
  const client = new HttpTestClient(Number(new URL(url).port));
  const status = async (token: string): Promise<number> =>
    (await client.modern('tools/list', {}, { headers: bearer(token) })).status;
  const bob = await newToken('bob');
  expect([await status(ada), await status(bob)]).toEqual([200, 401]);
  await hangUp(child, said, readAgain);
  expect([await status(ada), await status(bob)]).toEqual([200, 200]);
  await revoke('ada');
  await revoke('bob');
  await hangUp(child, said, /no token is accepted/);
  expect([await status(ada), await status(bob)]).toEqual([401, 401]);
  client.close();
});

test('one of two tokens of a caller can be revoked', async () => {
  const [old, fresh] = [createToken().token, createToken().token];
  const write = (...tokens: string[]): void =>
    writeFileSync(home.file('mooring.json'), JSON.stringify({ auth: { tokens } }), { mode: 0o600 });
  write(`ada:${old}`, `ada:${fresh}`);
  const args = ['reference', '--data', home.file('data'), '--config', 'mooring.json'];
  const { url, child, said } = await home.serve(args);
  const [lost, kept] = [await openEverything(url, old), await openEverything(url, fresh)];
  write(`ada:${fresh}`);
  await hangUp(child, said, readAgain);
  for (const each of Object.values(lost.streams)) await each.end();
  expect(kept.socket.readyState).toBe(WebSocket.OPEN);
  for (const each of Object.values(kept.streams)) expect(each.ended).toBe(false);
  // The session was the caller's, not the token's.
  expect((await kept.client.session(lost.session, 'ping', {}, { headers: kept.headers })).status).toBe(200);
  kept.socket.close();
  for (const { client } of [lost, kept]) client.close();
});

test('a token that loses a scope ends what it has open, too', async () => {
  const { token, hash } = createToken();
  const write = (scopes: string[]): void =>
    writeFileSync(home.file('tokens.json'), JSON.stringify({ tokens: [{ id: 'ada', hash, scopes }] }), { mode: 0o600 });
  write(['read', 'write']);
  const args = ['reference', '--data', home.file('data'), '--token-file', 'tokens.json'];
  const { url, child, said } = await home.serve(args);
  const open = await openEverything(url, token);
  await hangUp(child, said, readAgain);
  expect(open.streams.standing.ended).toBe(false);
  write(['read']);
  await hangUp(child, said, readAgain);
  for (const each of Object.values(open.streams)) await each.end();
  expect((await open.client.session(open.session, 'ping', {}, { headers: open.headers })).status).toBe(200);
  open.client.close();
});

describe('a policy', () => {
  const policy = (tools: string[]): void =>
    writeFileSync(home.file('policy.json'), JSON.stringify({ version: 1, rules: [{ effect: 'allow', tools }] }), {
      mode: 0o600,
    });
  const toolsOf = async (client: HttpTestClient): Promise<string[]> => {
    const { result } = (await client.modern('tools/list')).json as { result: { tools: { name: string }[] } };
    return result.tools.map(({ name }) => name);
  };

  test('that was changed is in force after SIGHUP, for sessions that are open as well', async () => {
    policy(['calculate', 'add_note']);
    const { url, child, said } = await home.serve(['local', '--data', home.file('data'), '--policy', 'policy.json']);
    const client = new HttpTestClient(Number(new URL(url).port));
    const session = await client.initialize();
    expect(await toolsOf(client)).toEqual(expect.arrayContaining(['calculate', 'add_note']));
    policy(['calculate']);
    await hangUp(child, said, readAgain);
    expect(await toolsOf(client)).toEqual(['calculate']);
    const { json } = await client.session(session, 'tools/call', { name: 'add_note', arguments: { content: 'x' } });
    expect(json.error?.code).toBe(-32602);
    client.close();
  });

  test.each([
    ['broken', () => writeFileSync(home.file('policy.json'), '{"version": 1, "rules": 3}', { mode: 0o600 })],
    ['writable by others', () => writeFileSync(home.file('policy.json'), '{"version":1,"rules":[]}', { mode: 0o666 })],
  ])('that is %s leaves the one in force, and the log says so', async (_what, spoil) => {
    policy(['calculate']);
    const { url, child, said } = await home.serve(['local', '--data', home.file('data'), '--policy', 'policy.json']);
    const client = new HttpTestClient(Number(new URL(url).port));
    const { chmodSync, rmSync } = await import('node:fs');
    rmSync(home.file('policy.json'));
    spoil();
    if (_what !== 'broken') chmodSync(home.file('policy.json'), 0o666);
    await hangUp(child, said, /settings were not reloaded.*policy\.json/);
    expect(await toolsOf(client)).toEqual(['calculate']);
    client.close();
  });
});

describe('the configuration file', () => {
  const write = (config: object | string): void =>
    writeFileSync(home.file('mooring.json'), typeof config === 'string' ? config : JSON.stringify(config), {
      mode: 0o600,
    });

  test('that is broken changes nothing: the tokens of before stay good', async () => {
    const { token } = createToken();
    write({ auth: { tokens: [token] } });
    const { url, child, said } = await home.serve(['local', '--data', home.file('data'), '--config', 'mooring.json']);
    const client = new HttpTestClient(Number(new URL(url).port));
    for (const broken of ['{', { auth: { tokens: [] } }, { auth: { tokens: ['short'] } }, { nonsense: 1 }]) {
      write(broken);
      await hangUp(child, said, /settings were not reloaded/);
      expect((await client.modern('tools/list', {}, { headers: bearer(token) })).status).toBe(200);
    }
    client.close();
  });

  test('that names other settings: those that need a restart are named, and not half applied', async () => {
    const { token } = createToken();
    write({ auth: { tokens: [token] }, http: { path: '/mcp' } });
    const { url, child, said } = await home.serve(['local', '--data', home.file('data'), '--config', 'mooring.json']);
    write({ auth: { tokens: [token] }, http: { path: '/other' }, roots: [home.folder], policy: 'policy.json' });
    writeFileSync(home.file('policy.json'), '{"version":1,"rules":[]}', { mode: 0o600 });
    await hangUp(child, said, /need a restart: .*roots/);
    expect(said()).toMatch(/need a restart: [^\n]*http\.path/);
    expect(said()).toMatch(/need a restart: [^\n]*policy/);
    const client = new HttpTestClient(Number(new URL(url).port));
    expect((await client.modern('tools/list', {}, { headers: bearer(token) })).status).toBe(200);
    client.close();
  });

  test('that has no tokens any more admits no caller: authentication is not switched off on the way', async () => {
    const { token } = createToken();
    write({ auth: { tokens: [token] } });
    const { url, child, said } = await home.serve(['local', '--data', home.file('data'), '--config', 'mooring.json']);
    const client = new HttpTestClient(Number(new URL(url).port));
    write({});
    await hangUp(child, said, /no token is accepted/);
    expect((await client.modern('tools/list', {}, { headers: bearer(token) })).status).toBe(401);
    expect((await client.modern('tools/list')).status).toBe(401);
    client.close();
  });

  test('that has tokens where there were none: the log says that this needs a restart', async () => {
    write({});
    const { url, child, said } = await home.serve(['local', '--data', home.file('data'), '--config', 'mooring.json']);
    write({ auth: { tokens: [createToken().token] } });
    await hangUp(child, said, /need a restart: .*auth\.tokens/);
    const client = new HttpTestClient(Number(new URL(url).port));
    expect((await client.modern('tools/list')).status).toBe(200);
    client.close();
  });
});

describe.runIf(hasTerminal)('at a terminal', () => {
  /** Runs the program in a terminal of its own; `script` passes the end of its input on as a closed terminal would. */
  function start(): { child: ChildProcess; said(): string; pid(): number } {
    const words = `exec '${process.execPath}' '${cli}' serve local --http --port 0 --data data 2>&1`;
    const child = home.adopt(
      spawn('script', ['-qec', `echo pid $$; ${words}`, '/dev/null'], {
        cwd: home.folder,
        env: { ...home.env, SHELL: '/bin/sh' },
        stdio: 'pipe',
      }),
    );
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    return { child, said: () => said, pid: () => Number(/pid (\d+)/.exec(said)?.[1]) };
  }

  const isGone = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };

  test('SIGHUP reads the settings again while the terminal is there, and stops the server once it is gone', async () => {
    const { child, said, pid } = start();
    await expect.poll(said).toMatch(/listening on/);
    process.kill(pid(), 'SIGHUP');
    await expect.poll(said).toMatch(readAgain);
    const running = pid();
    child.kill('SIGKILL');
    await expect.poll(() => isGone(running)).toBe(true);
  });
});
