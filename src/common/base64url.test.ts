import fc from 'fast-check';
import { afterAll, describe, expect, test, vi } from 'vitest';
import * as withBuffer from './base64url.ts';

// As in a browser, where the program that bundles it may add an older Buffer.
vi.stubGlobal('Buffer', Object.create(Buffer, { isEncoding: { value: () => false } }));
vi.resetModules();
const withLoops = await import('./base64url.ts');
afterAll(() => vi.unstubAllGlobals());

describe.each([
  ['with Buffer', withBuffer],
  ['with loops', withLoops],
])('%s', (_name, { toBase64, toBase64Url, fromBase64, fromBase64Url }) => {
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

  test('so are long ones', () => {
    for (const length of [12_286, 12_287, 12_288, 100_000]) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 7919) >> 3);
      const text = toBase64Url(bytes);
      expect(text).toBe(Buffer.from(bytes).toString('base64url'));
      expect(Buffer.compare(fromBase64Url(text) as Uint8Array, bytes)).toBe(0);
    }
  });

  test.each([0, 20_000])('a text that is decoded is the only encoding of its bytes, after %i characters', (length) => {
    const characters = fc.constantFrom(...'AQgw4_-+/=é\u0000 \u0141');
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 8 }), (end) => {
        const text = 'A'.repeat(length) + end;
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
});
