import { expect, test } from 'vitest';
import { createSealer } from '../engine/sealer.ts';
import { createNodeSealer } from './node-sealer.ts';

const key = 'a long secret of several replicas';
const value = { key: 'ключ', list: [1, true, null], nested: { text: 'x'.repeat(300) } };

test.each([key, new Uint8Array(32).fill(7)])(
  'tokens are interchangeable with those of the web sealer (%#)',
  async (shared) => {
    const node = createNodeSealer(shared);
    const web = createSealer(shared);
    expect(await web.open('session', node.seal('session', value, 'ada'), 'ada')).toEqual(value);
    expect(node.open('session', await web.seal('session', value, 'ada'), 'ada')).toEqual(value);
  },
);

test('a token is only good for its purpose, its context and its key', () => {
  const sealer = createNodeSealer(key);
  const token = sealer.seal('session', value, 'ada');
  expect(sealer.open('session', token, 'ada')).toEqual(value);
  expect(sealer.open('cursor', token, 'ada')).toBeUndefined();
  expect(sealer.open('session', token, 'bob')).toBeUndefined();
  expect(sealer.open('session', token)).toBeUndefined();
  expect(createNodeSealer('another secret of replicas').open('session', token, 'ada')).toBeUndefined();
});

test('every changed, added or missing character is noticed', () => {
  const sealer = createNodeSealer(key);
  const token = sealer.seal('session', { a: 1 });
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === 'A' ? 'B' : 'A';
    expect(sealer.open('session', token.slice(0, at) + other + token.slice(at + 1))).toBeUndefined();
  }
  for (const wrong of [
    '',
    'x',
    `${token}=`,
    `${token}A`,
    ` ${token}`,
    token.slice(1),
    token.slice(0, -1),
    `${token}\n`,
  ]) {
    expect(sealer.open('session', wrong)).toBeUndefined();
  }
});

test('a key that is too short or of the wrong size is refused', () => {
  expect(() => createNodeSealer('short')).toThrow(/16 characters/);
  expect(() => createNodeSealer(new Uint8Array(16))).toThrow(/32 bytes/);
});
