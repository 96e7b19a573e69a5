import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSealer } from '../engine/sealer.ts';
import { createNodeSealer } from './node-sealer.ts';

const key = 'a long secret of several replicas';
const value = { key: 'ключ', list: [1, true, null], nested: { text: 'x'.repeat(300) } };

test.each([key, randomBytes(32)])('tokens are interchangeable with those of the web sealer (%#)', async (shared) => {
  const node = createNodeSealer(shared);
  const web = createSealer(shared);
  expect(await web.open('session', node.seal('session', value, 'ada'), 'ada')).toEqual(value);
  expect(node.open('session', await web.seal('session', value, 'ada'), 'ada')).toEqual(value);
});

test('a token is valid only for its purpose, its context and its key', () => {
  const sealer = createNodeSealer(key);
  const token = sealer.seal('session', value, 'ada');
  expect(sealer.open('session', token, 'ada')).toEqual(value);
  expect(sealer.open('cursor', token, 'ada')).toBeUndefined();
  expect(sealer.open('session', token, 'bob')).toBeUndefined();
  expect(sealer.open('session', token)).toBeUndefined();
  expect(createNodeSealer('another long secret of several replicas').open('session', token, 'ada')).toBeUndefined();
});

test('every changed, added or missing character is detected', () => {
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

test('a key that is too short, of the wrong size or not random is rejected', () => {
  expect(() => createNodeSealer('short')).toThrow(/32 characters/);
  expect(() => createNodeSealer('ab'.repeat(20))).toThrow(/12 of them different/);
  expect(() => createNodeSealer(new Uint8Array(16))).toThrow(/32 bytes/);
  expect(() => createNodeSealer(new Uint8Array(32))).toThrow(/not random/);
});

test('previous keys open but never seal, and a token is valid only for what it is bound to', async () => {
  const [old, fresh] = [randomBytes(32), randomBytes(32)];
  const sealed = createNodeSealer({ key: old, boundTo: 'diary' }).seal('session', value, 'ada');
  const both = { key: fresh, previousKeys: [randomBytes(32), old] };
  for (const make of [createNodeSealer, createSealer]) {
    const overlap = make({ ...both, boundTo: 'diary' });
    expect(await overlap.open('session', sealed, 'ada')).toEqual(value);
    const later = await overlap.seal('session', value, 'ada');
    expect(await make({ key: fresh, boundTo: 'diary' }).open('session', later, 'ada')).toEqual(value);
    expect(await make({ key: old, boundTo: 'diary' }).open('session', later, 'ada')).toBeUndefined();
    expect(await make({ ...both, boundTo: 'archive' }).open('session', sealed, 'ada')).toBeUndefined();
  }
});
