import { expect, test } from 'vitest';
import { Answers, expectAnswers } from './oracle.ts';

const line = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const request = (id: unknown, method = 'ping') => line({ jsonrpc: '2.0', id, method });
const answer = (id: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result: {} });

test('a missing response is reported, and so are a second one and one without a request', () => {
  const answers = new Answers(expectAnswers([request(1), request('a')]));
  answers.take(answer(1));
  expect([answers.missing, answers.flaw]).toEqual([['"a"'], undefined]);
  answers.take(answer('a'));
  expect([answers.missing, answers.flaw]).toEqual([[], undefined]);
  answers.take(answer(1));
  expect(answers.flaw).toBe('1 is answered 2 times');
  const others = new Answers(expectAnswers([]));
  others.take(answer(5));
  expect(others.flaw).toContain('a response without a request');
});

test('an internal error is reported, another error is not', () => {
  for (const [message, flawed] of [
    ['Internal error', true],
    ['Invalid params', false],
  ] as const) {
    const answers = new Answers(expectAnswers([request(1)]));
    answers.take(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32603, message } }));
    expect(answers.flaw !== undefined, message).toBe(flawed);
  }
});

test('a value that is not a message is reported, a notification is not', () => {
  for (const text of ['nonsense', '{}', '"x"']) {
    const answers = new Answers(expectAnswers([]));
    answers.take(text);
    expect(answers.flaw, text).toBeDefined();
  }
  const answers = new Answers(expectAnswers([]));
  answers.take('{"jsonrpc":"2.0","method":"notifications/message","params":{}}');
  answers.take('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}');
  expect(answers.flaw).toBeUndefined();
});

test('no response is expected for notifications, responses, invalid lines and cancelled or duplicate requests', () => {
  const lines = [
    line({ jsonrpc: '2.0', method: 'x' }),
    line({ jsonrpc: '2.0', id: 1, result: {} }),
    line('{"id":2,'),
    request(3),
    line({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } }),
    request(4),
    request(4),
    request({}),
    line([{ jsonrpc: '2.0', id: 5, method: 'ping' }]),
  ];
  expect([...expectAnswers(lines).due]).toEqual([]);
});

test('an error about an invalid line does not count as the response to a valid line with the same id', () => {
  const broken = Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":"a","x":"'),
    Buffer.from([0xff]),
    Buffer.from('"}'),
  ]);
  const rejection = '{"jsonrpc":"2.0","id":"a","error":{"code":-32700,"message":"the line is not UTF-8"}}';
  const answers = new Answers(expectAnswers([broken, request('a')]));
  answers.take(rejection);
  expect([answers.missing, answers.flaw]).toEqual([['"a"'], undefined]);
  answers.take(answer('a'));
  expect([answers.missing, answers.flaw]).toEqual([[], undefined]);
  answers.take(rejection);
  expect(answers.flaw).toBe('"a" is answered 2 times');
});
