import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findResultText } from './result-text.ts';

test.each([
  ['{"jsonrpc":"2.0","id":7,"result":{"a":1}}', { id: 7, text: '{"a":1}' }],
  ['{"result":{"a":{"id":3}},"jsonrpc":"2.0","id":7}', { id: 7, text: '{"a":{"id":3}}' }],
])('the result of %s is found', (text, found) => {
  expect(findResultText(text)).toEqual(found);
});

test.each([
  '{"jsonrpc":"2.0","id":"7","result":{}}',
  '{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}}',
  '{"jsonrpc":"2.0","id":7,"result":[]}',
  '{"jsonrpc":"2.0","id":,"result":{}}',
  '{"jsonrpc":"2.0","method":"x"}',
  '[{"jsonrpc":"2.0","id":7,"result":{}}]',
  '',
])('%s has none', (text) => {
  expect(findResultText(text)).toBeUndefined();
});

test('what follows the result makes its text invalid, so that it is never passed on', () => {
  const { text = '' } = findResultText('{"jsonrpc":"2.0","id":7,"result":{},"id":8,"x":{}}') ?? {};
  expect(() => JSON.parse(text)).toThrow();
});

test('text that can be parsed is the result of the whole message', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), fc.boolean(), (result, id, isFirst) => {
      const message = isFirst ? { result, jsonrpc: '2.0', id } : { jsonrpc: '2.0', id, result };
      const text = JSON.stringify(message);
      expect(JSON.parse(findResultText(text)?.text ?? 'null')).toEqual(JSON.parse(text).result);
    }),
  );
});
