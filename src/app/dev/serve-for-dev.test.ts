import { expect, test } from 'vitest';
import { hostsAt } from './serve-for-dev.ts';

test('port 80, which a URL does not name, is allowed like any other', () => {
  expect(hostsAt('http://127.0.0.1:8000/mcp')).toEqual(['localhost:8000', '127.0.0.1:8000']);
  expect(hostsAt('http://127.0.0.1:80/mcp')).toEqual(['localhost:80', '127.0.0.1:80']);
});
