// Who is at the other end of a pipe: a token in the environment becomes the principal of every call.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createServer } from '../../src/engine/server.ts';
import { type AuditEntry, createToken, queryAudit } from '../../src/security/index.ts';
import { serveStdio } from '../../src/transports/stdio.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const program = join(resolve(import.meta.dirname, '../..'), 'dist/cli.js');
const folder = temporaryFolder();
const desk = createToken();
const tokenFile = join(folder, 'tokens.json');
writeFileSync(tokenFile, JSON.stringify({ tokens: [{ id: 'desk', hash: desk.hash }] }));

const greeting = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const call = (name: string): object => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
const lines = (...messages: object[]): string => messages.map((each) => `${JSON.stringify(each)}\n`).join('');

test('the principal given to serveStdio is the one handlers see', async () => {
  const server = createServer({ name: 'piped', version: '1.0.0' });
  server.tool('whoami', { run: (_args, ctx) => ctx.principal?.id ?? 'nobody' });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const principal = { id: 'desk', issuer: 'urn:test', scopes: [] };
  const { closed } = await serveStdio(server, { stdin, stdout, principal });
  stdin.end(lines(greeting, call('whoami')));
  await closed;
  expect(String(stdout.read())).toContain('"text":"desk"');
});

/** Serves the default profile on a pipe for one call; what it said, and whose call is in its audit log. */
async function serveOnce(name: string, token: string | undefined) {
  const args = [program, 'serve', 'local', '--data', folder, '--token-file', tokenFile];
  const env = { PATH: process.env['PATH'], HOME: folder, ...(token === undefined ? {} : { MOORING_TOKEN: token }) };
  const child = spawn(process.execPath, [...args, '--audit', join(folder, name, 'audit.jsonl')], { cwd: folder, env });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  child.stdout.resume();
  child.stdin.on('error', () => {}); // It may reject to serve before it reads.
  child.stdin.end(lines(greeting, call('get_time')));
  const code = await new Promise((done) => child.once('close', done));
  const entries: AuditEntry[] = [];
  for await (const entry of queryAudit(join(folder, name), { event: 'call' })) entries.push(entry);
  return { code, said, callers: entries.map(({ principal }) => principal) };
}

test('S4-57: a profile on a pipe takes its caller from the token in the environment, and a bad token is not served', async () => {
  expect(await serveOnce('known', desk.token)).toMatchObject({ code: 0, callers: ['desk'] });
  expect(await serveOnce('nameless', undefined)).toMatchObject({ code: 0, callers: [undefined] });
  const rejected = await serveOnce('unknown', createToken().token);
  expect(rejected).toMatchObject({ callers: [] });
  expect(rejected.code).not.toBe(0);
  expect(rejected.said).toContain('MOORING_TOKEN does not contain a valid token');
});
