import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBase64, fromBase64Url, toBase64, toBase64Url } from './base64url.ts';

test('bytes are encoded as Node.js does it, and decoded', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
      expect(toBase64Url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
      expect(fromBase64Url(toBase64Url(bytes))).toEqual(Uint8Array.from(bytes));
      expect(fromBase64(toBase64(bytes))).toEqual(Uint8Array.from(bytes));
    }),
  );
});

test('a text that is decoded is the only encoding of its bytes', () => {
  const characters = fc.constantFrom(...'AQgw4_-+/=é\u0000 ');
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 8 }), (text) => {
      const bytes = fromBase64Url(text);
      const encoded = Buffer.from(text, 'base64url').toString('base64url');
      expect(bytes === undefined ? undefined : toBase64Url(bytes)).toBe(encoded === text ? text : undefined);
    }),
  );
});

test('base64 may lack its padding, and nothing else', () => {
  expect(fromBase64('+/8')).toEqual(Uint8Array.of(251, 255));
  for (const text of ['A', 'AA\nAA', 'AB==', 'A===']) expect(fromBase64(text)).toBeUndefined();
});
