// Addresses of clients behind a reverse proxy: --trust-proxy, its variable, and the setting in mooring.json.

import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { HttpTestClient } from '../support/http-client.ts';
import { cli, useHome } from '../support/program.ts';

const home = useHome();
const forwarded = { 'X-Forwarded-For': '198.51.100.1, 203.0.113.9' };

/** Calls a tool as a proxy on this machine would. */
async function call(url: string, name: string): Promise<void> {
  const client = new HttpTestClient(Number(new URL(url).port));
  const { status } = await client.modern('tools/call', { name, arguments: {} }, { headers: forwarded });
  expect(status).toBe(200);
  client.close();
}

async function auditedAddresses(file: string): Promise<unknown[]> {
  const { stdout } = await home.run(['audit', 'query', file, '--event', 'call', '--json']);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line).address);
}

test.each([
  ['the flag', ['--trust-proxy', 'loopback'], {}, '203.0.113.9'],
  ['the variable', [], { MOORING_TRUSTED_PROXIES: '192.0.2.0/24, 127.0.0.0/8' }, '203.0.113.9'],
  ['the setting in mooring.json', ['--config', 'mooring.json'], {}, '203.0.113.9'],
  ['workers', ['--trust-proxy', 'loopback', '--workers', '1'], {}, '203.0.113.9'],
  ['no trusted proxy', [], {}, '127.0.0.1'],
])('the audit log has the address of the client: %s', async (_how, args, env, address) => {
  writeFileSync(home.file('mooring.json'), JSON.stringify({ http: { trustedProxies: ['127.0.0.1'] } }));
  const file = home.file('audit/log.jsonl');
  const { url } = await home.serve(['everything', '--audit', file, ...args], { env });
  await call(url, 'test_simple_text');
  await expect.poll(() => auditedAddresses(file)).toEqual([address]);
});

test('the audit log of a gateway too', async () => {
  const config = JSON.stringify({
    mcpServers: { all: { command: process.execPath, args: [cli, 'serve', 'everything'] } },
  });
  writeFileSync(home.file('mooring.json'), config);
  const file = home.file('audit/log.jsonl');
  const { url } = await home.serve(['--gateway', 'mooring.json', '--audit', file, '--trust-proxy', 'loopback']);
  await call(url, 'all_test_simple_text');
  await expect.poll(() => auditedAddresses(file)).toEqual(['203.0.113.9']);
});

test('without it, the log names the flag once', async () => {
  const { url, said } = await home.serve(['everything']);
  await call(url, 'test_simple_text');
  await call(url, 'test_simple_text');
  await expect.poll(said).toContain('If this address is that of your proxy, add it with --trust-proxy ADDRESS');
  expect(said().split('X-Forwarded-For')).toHaveLength(2);
});

test('a value that is not an address is a usage error', async () => {
  const { code, stderr } = await home.run(['serve', '--http', '--trust-proxy', 'proxy.example']);
  expect(code).toBe(2);
  expect(stderr).toContain(
    '--trust-proxy: "proxy.example" is not an address; write that of the proxy, a range, or loopback: "10.0.0.5", "10.0.0.0/8"',
  );
});
