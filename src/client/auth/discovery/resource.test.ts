import { expect, test } from 'vitest';
import { canonicalResource, coversServer } from './resource.ts';

test('a bare host has no trailing slash, everything else is kept', () => {
  expect(canonicalResource(new URL('HTTPS://MCP.Example.com/'))).toBe('https://mcp.example.com');
  expect(canonicalResource(new URL('https://mcp.example.com/mcp#top'))).toBe('https://mcp.example.com/mcp');
  expect(canonicalResource(new URL('https://mcp.example.com:8443/a/'))).toBe('https://mcp.example.com:8443/a/');
  expect(canonicalResource(new URL('https://mcp.example.com/?tenant=a'))).toBe('https://mcp.example.com/?tenant=a');
});

const server = new URL('https://mcp.example.com/team/mcp');

test('the server itself and its parents are accepted, with any form of the host', () => {
  for (const resource of [
    'https://mcp.example.com/team/mcp',
    'https://mcp.example.com/team/mcp/',
    'https://mcp.example.com/team',
    'https://mcp.example.com',
    'https://mcp.example.com/',
    'HTTPS://MCP.EXAMPLE.COM/team/mcp',
    'https://mcp.example.com:443/team/mcp',
  ]) {
    expect(coversServer(resource, server), resource).toBe(true);
  }
});

test('siblings, children, look-alikes and other origins are rejected', () => {
  for (const resource of [
    'https://evil.example.com/team/mcp',
    'http://mcp.example.com/team/mcp',
    'https://mcp.example.com:8443/team/mcp',
    'https://mcp.example.com.evil.test/team/mcp',
    'https://mcp.example.com/team/mc',
    'https://mcp.example.com/team/mcp2',
    'https://mcp.example.com/team/mcp/inner',
    'https://mcp.example.com/other',
    'https://mcp.example.com/team/mcp?tenant=x',
    'https://mcp.example.com/team/mcp#x',
    'https://user@mcp.example.com/team/mcp',
    'mcp.example.com/team/mcp',
    '',
  ]) {
    expect(coversServer(resource, server), resource).toBe(false);
  }
});
