import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRedactor } from '../../security/redact.ts';
import { Capture, maxTextChars, secretProperties } from './capture.ts';
import { parseText } from './message-text.ts';

const capture = new Capture();
const shown = (message: unknown): string => capture.message(message, JSON.stringify(message)).text;

test.for([
  [{ params: { password: 'hunter2' } }],
  [{ params: { 'api-key': 'hunter2' } }],
  [{ params: { args: ['--token', 'hunter2'] } }],
  [{ params: { name: 'Authorization', value: 'hunter2' } }],
  [{ params: { env: { MY_SECRET: 'hunter2' } } }],
  [{ params: { pa_ss: 'x', deep: [{ client_secret: 'hunter2' }] } }],
  [{ result: { action: 'accept', content: { anything: 'hunter2' } } }],
  [{ params: { inputResponses: { a: { action: 'accept', content: { anything: 'hunter2' } } } } }],
] as const)('hidden: %j', ([message]) => {
  expect(shown(message)).not.toContain('hunter2');
  expect(shown(message)).toContain('[redacted]');
});

test('escaped names and names after quotation marks are found', () => {
  for (const name of ['pa\\u0073sword', 'pass\\nword']) {
    const text = `{"params":{"a":"\\\\\\"","${name}":"hunter2"}}`;
    expect(capture.message(JSON.parse(text), text).text).not.toContain('hunter2');
    const long = `{"params":{"${name}":"hunter2","text":"${'x'.repeat(500_000)}"}}`;
    expect(capture.message(JSON.parse(long), long).text).not.toContain('hunter2');
  }
});

test('a secret in a member that is there twice is hidden, although parsing leaves only the last one', () => {
  for (const secret of ['"hunter2"', '{"x":"hunter2"}']) {
    const text = `{"params":{"auth":${secret},"auth":null}}`;
    expect(capture.message(JSON.parse(text), text).text).toBe('{"params":{"auth":null}}');
  }
});

test('what the fast path calls clean is what the redactor leaves unchanged', () => {
  const redactor = createRedactor({ maxTextChars, maxDepth: 64 });
  const names = fc.constantFrom(
    'password',
    'token',
    'a',
    'progressToken',
    'x-api-key',
    'name',
    'value',
    '--token',
    'pin',
  );
  const message = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      names,
      fc.constantFrom('Bearer abcdefgh12345', 'sk-abcdefghijklmnop1234', 'token=abcdef'),
      fc.integer(),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(names, fc.string({ maxLength: 6 })), tie('value'), { maxKeys: 4 }),
    ),
  })).value;
  fc.assert(
    fc.property(message, (params) => {
      const value = { jsonrpc: '2.0', method: 'm', params };
      // Compared as JSON: the redactor turns negative zero into what JSON has.
      const text = JSON.stringify(value);
      expect(capture.message(JSON.parse(text), text).text).toBe(JSON.stringify(redactor.redact(JSON.parse(text))));
    }),
  );
});

test('without secrets the text stays as it was sent', () => {
  const text = '{ "id":12345678901234567890, "result":{"a":1.0} }';
  expect(capture.message(JSON.parse(text), text)).toEqual({ text, cut: false, bytes: text.length });
});

test('long texts are cut, and those too long to parse have no secrets either', () => {
  const long = { params: { password: 'hunter2', text: 'x'.repeat(500_000) } };
  const { text, cut, bytes } = capture.message(long, JSON.stringify(long));
  expect(text.length).toBeLessThanOrEqual(maxTextChars);
  expect(text).not.toContain('hunter2');
  expect(cut).toBe(true);
  expect(bytes).toBeGreaterThan(500_000);
});

test.for([
  ['by its name', { params: { pin: 12345678 } }],
  ['with its members', { params: { credentials: { user: 'hunter2' } } }],
  ['after its name', { params: { args: ['--token', 'hunter2'] } }],
  ['beside its name', { params: { name: 'Authorization', value: 'hunter2' } }],
  ['by the schema of a tool', { method: 'tools/call', params: { arguments: { code: 'hunter2' }, name: 'echo' } }],
  ['as a response of a user', { result: { content: { anything: 'hunter2' }, action: 'accept' } }],
  ['among responses', { params: { inputResponses: { a: { action: 'accept', content: { anything: 'hunter2' } } } } }],
] as const)('a secret in a long message is hidden %s', ([, message]) => {
  const secrets = new Capture({ secretArguments: (tool) => (tool === 'echo' ? new Set(['code']) : undefined) });
  const [part, value] = Object.entries(message).at(-1) as [string, object];
  for (const length of [70_000, 300_000, 5_000_000]) {
    // The last members of a message are not in what is shown of it.
    const { arguments: args, content, ...others } = value as Record<string, object>;
    const filling = 'a word '.repeat(length / 7);
    const long = {
      ...message,
      [part]: {
        ...(args && { arguments: { ...args, filling } }),
        ...(content && { content: { ...content, filling } }),
        ...others,
        filling,
      },
    };
    const text = JSON.stringify(long);
    for (const known of [long, parseText(text)]) {
      const { text: shown, cut } = secrets.message(known, text);
      expect(shown).toContain('[redacted]');
      expect(shown).not.toMatch(/hunter2|12345678/);
      expect(shown.length).toBeLessThanOrEqual(maxTextChars);
      expect(cut).toBe(true);
    }
  }
});

test('a long message without secrets is shown as it was sent, up to its last whole word', () => {
  const text = `{ "id":12345678901234567890, "params":{"a":1.0,"text":"${'a word '.repeat(20_000)}"} }`;
  const captured = capture.message(JSON.parse(text), text);
  expect(captured).toEqual({ text: text.slice(0, maxTextChars), cut: true, bytes: text.length });
  const word = `{"params":{"text":"a ${'x'.repeat(100_000)}"}}`;
  expect(capture.message(JSON.parse(word), word).text).toBe('{"params":{"text":"a ');
});

test('with raw everything is shown', () => {
  const message = { params: { password: 'hunter2' } };
  expect(new Capture({ raw: true }).message(message, undefined).text).toContain('hunter2');
});

test('secret properties of a schema are found at any depth', () => {
  const password = { type: 'string', format: 'password' };
  const schema = {
    properties: {
      a: { type: 'object', properties: { b: { writeOnly: true } } },
      c: { anyOf: [{ properties: { d: password } }] },
    },
    $defs: { e: { properties: { f: password } } },
  };
  expect([...secretProperties(schema)].sort()).toEqual(['b', 'd', 'f']);
});
