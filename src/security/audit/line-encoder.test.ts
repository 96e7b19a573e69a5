import { expect, test } from 'vitest';
import { silentLogger } from '../../common/logger.ts';
import { LineEncoder } from './line-encoder.ts';
import { createRedaction } from './redaction.ts';

const maxLineBytes = 16 * 1024;
const encoder = new LineEncoder(createRedaction({}), maxLineBytes, silentLogger);

/** A line with the brace that the chain adds. */
const parsed = (line: string) => JSON.parse(`{${line}`);

const call = (args: unknown, name = 'echo', principal = 'alice') =>
  encoder.call({
    atMs: 0,
    method: 'tools/call',
    name,
    arguments: args,
    principal: { id: principal, issuer: principal },
    transport: 'http',
    address: '127.0.0.1',
    session: 'abc',
    outcome: 'rejected',
    code: -32000,
    why: principal,
    durationMs: 1.23456,
  });

test('the line of a call has what is known of it, and nothing else', () => {
  expect(parsed(call({ n: 1 }))).toEqual({
    time: '1970-01-01T00:00:00.000Z',
    event: 'call',
    principal: 'alice',
    issuer: 'alice',
    session: 'abc',
    transport: 'http',
    address: '127.0.0.1',
    name: 'echo',
    arguments: { n: 1 },
    outcome: 'rejected',
    code: -32000,
    ms: 1.235,
    details: { why: 'alice' },
  });
  expect(parsed(encoder.record({ event: 'open' }))).toEqual({ time: expect.any(String), event: 'open' });
});

test('each line names its own caller, not the one of the line before', () => {
  const callers = [
    { principal: { id: 'alice' }, transport: 'http', address: '127.0.0.1' },
    { principal: { id: 'alice', issuer: 'https://issuer.example' }, transport: 'http', address: '127.0.0.1' },
    { principal: { id: 'bob' }, transport: 'http', address: '127.0.0.1' },
    { principal: undefined, transport: 'http', address: '127.0.0.1' },
    { principal: undefined, transport: 'http', address: '::1' },
    { principal: undefined, transport: 'stdio', address: '::1' },
    { principal: undefined, transport: 'stdio', address: undefined },
  ] as const;
  const ended = { atMs: 0, method: 'resources/read', name: 'a:b', arguments: undefined, session: undefined } as const;
  for (const caller of [...callers, ...callers.toReversed(), ...callers, ...callers]) {
    const line = encoder.call({ ...ended, ...caller, outcome: 'ok', code: undefined, why: undefined, durationMs: 1 });
    const { principal, issuer, transport, address } = parsed(line);
    expect({ principal, issuer, transport, address }).toEqual({
      principal: caller.principal?.id,
      issuer: caller.principal !== undefined && 'issuer' in caller.principal ? caller.principal.issuer : undefined,
      transport: caller.transport,
      address: caller.address,
    });
  }
});

const wide = Array.from({ length: 190 }, (_, n) => ({ [`"key ${n}`]: 'grüße "\\" '.repeat(20) }));

test('arguments that are too long for a line are truncated with a marker', () => {
  const longest = 'ü'.repeat(256);
  for (const [args, name] of [
    [wide, 'echo'],
    [{ wide }, longest],
  ] as const) {
    const line = call(args, name, name);
    expect(line.length).toBeLessThan(maxLineBytes);
    expect(line).toMatch(/^[ -~]*$/);
    const { arguments: text, outcome } = parsed(line);
    expect(text).toMatch(/^[[{].*\.\.\. \[truncated: \d{5,} bytes\]$/);
    expect(outcome).toBe('rejected');
  }
});

test('details that are too long for a line are truncated with a marker', () => {
  const line = encoder.record({ event: 'mark', details: { wide } });
  expect(line.length).toBeLessThan(maxLineBytes);
  expect(parsed(line).details.truncated).toMatch(/^\{"wide":.*\[truncated: \d{5,} bytes\]$/);
});

test('whatever a caller sends, no line is longer than it may be', () => {
  const text = '\u0007'.repeat(1_000_000);
  const line = call({ [text]: text, list: Array(1000).fill(text) }, text, text);
  expect(line.length).toBeLessThan(maxLineBytes);
  expect(parsed(line).event).toBe('call');
});
