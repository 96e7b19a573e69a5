import { expect, test } from 'vitest';
import { plainReach, requireSafeCredentials } from './plain-http.ts';

test.each([
  ['loopback', ['localhost', 'app.localhost', '127.0.0.1', '127.1', '[::1]', '[::ffff:127.0.0.1]', 'LOCALHOST.']],
  [
    'local-network',
    [
      ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.5', '169.254.1.1', '100.64.0.1', '0.0.0.0'],
      ...['[fd00::2]', '[fe80::1]', '[::ffff:10.0.0.1]', 'printer.local', 'Printer.LOCAL.', 'nas', '0x0a000001'],
    ],
  ],
  [
    'public',
    [
      ...['example.com', 'local.example.com', 'evil-local.test', '8.8.8.8', '172.32.0.1', '192.169.0.1', '11.0.0.1'],
      ...['[2001:db8::1]', '[::ffff:8.8.8.8]', '10.0.0.1.evil.test', 'localhost.evil.test', '100.128.0.1'],
    ],
  ],
])('%s', (reach, hosts) => {
  for (const host of hosts) {
    expect([host, plainReach(`http://${host}:8000/mcp`)]).toEqual([host, reach]);
    expect([host, plainReach(`ws://${host}/`)]).toEqual([host, reach]);
    expect(plainReach(`https://${host}/`)).toBeUndefined();
  }
});

test('credentials are sent without encryption only on this machine, or where the user allows it', () => {
  const attempt = (url: string, allowed = false) => requireSafeCredentials(url, true, allowed);
  for (const url of ['http://nas/mcp', 'ws://10.0.0.1', 'http://example.com/']) {
    expect(() => attempt(url)).toThrow(/not encrypted/);
    expect(() => attempt(url, true)).not.toThrow();
    expect(() => requireSafeCredentials(url, false, false)).not.toThrow();
  }
  for (const url of ['https://example.com', 'wss://nas', 'http://localhost:1'])
    expect(() => attempt(url)).not.toThrow();
});
