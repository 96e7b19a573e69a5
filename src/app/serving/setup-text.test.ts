import { expect, test } from 'vitest';
import { addressForClients, setupText } from './setup-text.ts';

test.each([
  ['http://0.0.0.0:8000/mcp', undefined, 'http://127.0.0.1:8000/mcp'],
  ['http://[::]:8000/mcp', undefined, 'http://127.0.0.1:8000/mcp'],
  ['http://127.0.0.1:8000/mcp', undefined, 'http://127.0.0.1:8000/mcp'],
  ['http://192.0.2.1:8000/mcp', undefined, 'http://192.0.2.1:8000/mcp'],
  ['http://0.0.0.0:8000/mcp', 'https://mcp.example', 'https://mcp.example/mcp'],
  ['http://127.0.0.1:8000/mcp', 'https://example.org/tools', 'https://example.org/tools'],
])('clients of %s with the public URL %s use %s', (listening, publicUrl, told) => {
  expect(addressForClients(listening, publicUrl, '/mcp')).toBe(told);
});

test('if a token is required, every setup line shows where it goes', () => {
  const text = setupText('http://127.0.0.1:8000/mcp', true);
  expect(text).toContain('npx mooring tools http://127.0.0.1:8000/mcp --token "<token>"\n');
  expect(text).toContain('--url http://127.0.0.1:8000/mcp --header "Authorization: Bearer <token>"\n');
  expect(text).toContain('bearer_token_env_var = "MOORING_TOKEN"\n');
  expect(setupText('http://127.0.0.1:8000/mcp', false)).not.toMatch(/token/i);
});
