// HTTP requests that are nearly right: the headers of both eras, changed, repeated, invalid or missing, around a message.

import { makeBytes, pick, type Random } from './generator.ts';

/** Placeholder for the host and port of the server, which a stored case cannot know. */
export const hostMark = '@host@';

const values: Readonly<Record<string, readonly string[]>> = {
  Host: [hostMark, hostMark, hostMark, hostMark, 'evil.example', '', 'localhost:1', '[::1'],
  'Content-Type': [
    'application/json',
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    '',
    '\u0001',
  ],
  Accept: ['application/json, text/event-stream', 'application/json', 'text/event-stream', '*/*', 'x/y;q=2', ','],
  'MCP-Protocol-Version': ['2026-07-28', '2025-11-25', '2024-11-05', '1', '2026-07-28, 2026-07-28'],
  'Mcp-Method': ['tools/call', 'tools/list', 'ping', '=?base64?eA==?=', '\u00ff'],
  'Mcp-Name': ['test_simple_text', '=?base64?dGVzdA==?=', '=?base64?%%?=', 'x'.repeat(300)],
  'Mcp-Session-Id': ['x', 'AAAA.BBBB', '', '../../x', 'x'.repeat(3000)],
  'Last-Event-ID': ['0', 'post:1:1', '-1', '\u0000'],
  Origin: ['http://localhost', 'null', 'http://evil.example'],
  'Content-Encoding': ['gzip', 'identity', 'br'],
  'Transfer-Encoding': ['chunked', 'gzip, chunked'],
  Expect: ['100-continue', 'nonsense'],
  Upgrade: ['websocket', 'h2c'],
  Connection: ['close', 'keep-alive', 'Upgrade'],
};

const usual = ['Host', 'Content-Type', 'Accept'];

/** The bytes of one request. */
export function makeRequest(random: Random, body: Buffer): Buffer {
  const method = pick(random, ['POST', 'POST', 'POST', 'POST', 'GET', 'DELETE', 'OPTIONS', 'PUT', 'BREW', '']);
  const path = pick(random, [
    '/mcp',
    '/mcp',
    '/mcp',
    '/mcp?x=1',
    '/sse',
    '/mcp/sse',
    '/message',
    '/message?sessionId=x',
    '/message?sessionId=x&sessionId=__proto__',
    '/health',
    '/health/ready',
    '/metrics',
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server',
    '/__proto__',
    '/constructor',
    '/',
    '*',
    'http://x/mcp',
    '/%00',
  ]);
  const names = Object.keys(values).filter((name) => usual.includes(name) || random() < 0.15);
  const lines = names.flatMap((name) => {
    const line = `${random() < 0.05 ? name.toUpperCase() : name}: ${pick(random, values[name] as readonly string[])}`;
    return random() < 0.03 ? [line, line] : random() < 0.05 ? [] : [line];
  });
  const length = random() < 0.9 ? body.length : pick(random, [0, body.length + 5, -1, 10 ** 12]);
  if (random() < 0.95) lines.push(`Content-Length: ${length}`);
  const head = `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  const bytes = Buffer.concat([Buffer.from(head, 'latin1'), body]);
  return random() < 0.1 ? makeBytes(() => Math.max(0.71, random()), bytes.toString('latin1')) : bytes;
}
