// A server with guards of "mooring/security": the program of docs/guide/securing.md as it
// stands there, run from the built package and spoken to over its wire.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken, queryAudit, verifyAudit } from '../../src/security/index.ts';
import { ensureProgram } from '../support/programs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/guide/securing.md'), 'utf8');
const together = page.slice(page.indexOf('## Complete example'));
const block = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(together)?.[1] as string;

const alice = createToken();
const bob = createToken();
// In the package, so that its own name leads to what was built; the files it reads and writes are elsewhere.
const code = join(root, '.tmp', `own-server-${process.pid}`);
let folder: string;
let child: ChildProcess;
let url: string;

async function start(): Promise<void> {
  folder = temporaryFolder();
  mkdirSync(code, { recursive: true });
  writeFileSync(join(code, 'diary.mjs'), block('ts'));
  writeFileSync(join(folder, 'policy.yaml'), block('yaml'));
  const tokens = [
    { id: 'alice', hash: alice.hash },
    { id: 'bob', hash: bob.hash },
  ];
  writeFileSync(join(folder, 'tokens.json'), JSON.stringify({ tokens }));
  child = spawn(process.execPath, [join(code, 'diary.mjs')], { cwd: folder, env: { ...process.env, PORT: '0' } });
  url = await new Promise((found, fail) => {
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said += chunk;
      const address = /listening on (\S+)/.exec(said)?.[1];
      if (address !== undefined) found(address);
    });
    child.once('exit', () => fail(new Error(`it ended: ${said}`)));
  });
}

async function stop(): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return ended;
}

async function call(token: string | undefined, text: string): Promise<{ status: number; body: string }> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name: 'count_words', arguments: { text }, _meta: meta };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'count_words',
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  return { status: response.status, body: await response.text() };
}

describe.skipIf(!ensureProgram('bwrap'))('the server of docs/guide/securing.md', () => {
  beforeAll(start);
  afterAll(() => {
    child.kill('SIGKILL');
    for (const each of [folder, code]) rmSync(each, { recursive: true, force: true });
  });

  test('lets in who has a token, hides what the policy denies, checks arguments, and runs its command in the sandbox', async () => {
    expect((await call(undefined, 'one')).status).toBe(401);
    expect((await call(alice.token, 'one two three')).body).toContain('"text":"3"');
    expect((await call(bob.token, 'one')).body).toContain('Unknown tool');
    const long = await call(alice.token, 'x'.repeat(10_001));
    expect(long.body).toContain('Denied by policy');
  });

  test('limits how often, and the log has it all when the server has ended', async () => {
    let status = 200;
    // Some come back while we ask: a hundred a minute.
    for (let n = 0; n < 1_000 && status === 200; n++) ({ status } = await call(alice.token, 'x'.repeat(10_001)));
    expect(status).toBe(429);
    expect(await stop()).toBe(0);
    const entries = [];
    for await (const entry of queryAudit(join(folder, 'audit'), {})) entries.push(entry);
    const events = entries.map(({ event, outcome }) => `${event} ${outcome ?? ''}`.trim());
    const kinds = ['auth rejected', 'call ok', 'call rejected', 'close', 'open', 'spawn begun', 'spawn ended'];
    expect([...new Set(events)].sort()).toEqual(kinds);
    expect(await verifyAudit(join(folder, 'audit'))).toMatchObject([{ ok: true }]);
    expect(JSON.stringify(entries)).not.toContain(alice.token);
  }, 60_000);
});
