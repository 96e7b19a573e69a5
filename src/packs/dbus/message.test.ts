import fc from 'fast-check';
import { expect, test } from 'vitest';
import { socketPaths } from './address.ts';
import { parseIntrospection } from './introspection.ts';
import { decodeMessage, encodeMessage, messageLength } from './message.ts';
import { BusFormatError, DbusReader } from './reader.ts';
import { parseSignature } from './types.ts';
import { DbusWriter } from './writer.ts';

const call = {
  type: 'call',
  serial: 7,
  path: '/org/example',
  interface: 'org.example.A',
  member: 'B',
  destination: 'org.example',
} as const;

test('a message is decoded as it was encoded', () => {
  const bytes = encodeMessage({ ...call, signature: 'sa{sv}' }, ['x', { k: { signature: 'u', value: 5 } }]);
  expect(messageLength(bytes)?.total).toBe(bytes.length);
  expect(decodeMessage(bytes)).toEqual({ ...call, signature: 'sa{sv}', body: ['x', { k: 5 }] });
});

test('the specification’s alignment: a byte, a 32-bit number, a 64-bit one', () => {
  expect(new DbusWriter().write('yut', [1, 2, 3n]).bytes.toString('hex')).toBe(
    '01000000' + '02000000' + '0300000000000000',
  );
  expect(new DbusWriter().write('ayai', [[5], []]).bytes.toString('hex')).toBe('0100000005000000' + '00000000');
  expect(new DbusWriter().write('a(y)', [[[1], [2]]]).bytes.toString('hex')).toBe(
    '0900000000000000' + '0100000000000000' + '02',
  );
});

test('big-endian messages are decoded as well', () => {
  const bytes = Buffer.from('00000003616263000000000000000000ffffffff', 'hex');
  expect(new DbusReader(bytes, false).read('s')).toEqual(['abc']);
  expect(new DbusReader(bytes, false, 16).read('i')).toEqual([-1]);
});

test('invalid signatures are rejected', () => {
  for (const wrong of ['(', '()', 'a', '{sv}x{', 'z', 'a{s}', 'a'.repeat(40), 's'.repeat(256)]) {
    expect(() => parseSignature(wrong), wrong).toThrow(RangeError);
  }
});

test('a key called __proto__ stays a key', () => {
  const bytes = new DbusWriter().write('a{ss}', [new Map([['__proto__', 'x']])]).bytes;
  const [map] = new DbusReader(bytes, true).read('a{ss}') as [object];
  expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
  expect(Object.keys(map)).toEqual(['__proto__']);
});

test('any input is either decoded or rejected with a format error', () => {
  const good = encodeMessage({ ...call, signature: 'sav' }, ['x', [{ signature: 'as', value: ['y'] }]]);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 8 }),
      fc.nat(good.length),
      (changes, length) => {
        const bytes = Buffer.from(good);
        for (const [at, value] of changes) bytes[at] = value;
        try {
          const total = messageLength(bytes.subarray(0, length))?.total;
          if (total !== undefined && total <= length) decodeMessage(bytes.subarray(0, total));
        } catch (error) {
          expect(error).toBeInstanceOf(BusFormatError);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('local sockets of an address are used in order; others are skipped', () => {
  expect(socketPaths('tcp:host=x,port=1;unix:path=/a%20b,guid=1;unix:abstract=/tmp/x')).toEqual(['/a b', '\0/tmp/x']);
  expect(socketPaths('unix:path=%zz;nonsense')).toEqual([]);
});

test('the description of an object is parsed, those of its children are not', () => {
  const xml = `<node><interface name="a.B"><method name="M"/><method name="N"><arg type="s"/><arg type="u" direction="out"/></method>
    <property name="P" type="s" access="read"><annotation name="x" value="y"/></property></interface>
    <node name="child"><interface name="c.D"/></node><node name="other"/></node>`;
  expect(parseIntrospection(xml)).toEqual({
    interfaces: [{ name: 'a.B', methods: ['M()', 'N(s) -> u'], signals: [], properties: ['P'] }],
    children: ['child', 'other'],
  });
});
