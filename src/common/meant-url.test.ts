import { expect, test } from 'vitest';
import { meantUrl } from './meant-url.ts';

test.each([
  ['localhost:3000/mcp', 'http://localhost:3000/mcp'],
  ['localhost:3000', 'http://localhost:3000'],
  ['localhost/mcp', 'http://localhost/mcp'],
  ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ['[::1]:3000/mcp', 'http://[::1]:3000/mcp'],
  ['weather:8000/mcp?a=1', 'http://weather:8000/mcp?a=1'],
  ['example.com/mcp', 'https://example.com/mcp'],
  ['example.com:443/mcp', 'https://example.com:443/mcp'],
  ['example.com:8080', 'http://example.com:8080'],
  ['//mcp.example.com/mcp', 'https://mcp.example.com/mcp'],
])('%s was probably %s', (text, url) => {
  expect(meantUrl(text)).toBe(url);
});

test.each([
  ...['node', 'server.js', 'example.com', './server.js', '../bin/server', 'bin/server', '/usr/bin/node', '@scope/name'],
  ...['C:/server.exe', 'C:\\server.exe', 'localhost:99999/mcp', 'mcp server', 'name:tag', '', 'http://localhost'],
])('%j does not look like a URL without its scheme', (text) => {
  expect(meantUrl(text)).toBeUndefined();
});
