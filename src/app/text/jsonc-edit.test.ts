import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dataOf, parseJsonc } from './jsonc.ts';
import { memberAt, NotAnObject, removeMember, setMember } from './jsonc-edit.ts';

const data = (text: string): unknown => dataOf(parseJsonc(text));
const entry = { command: 'npx', args: ['-y', 'mooring'] };

test('an empty file becomes a readable one', () => {
  expect(setMember('', ['mcpServers', 'mooring'], { command: 'npx' })).toBe(
    '{\n  "mcpServers": {\n    "mooring": {\n      "command": "npx"\n    }\n  }\n}\n',
  );
});

test('a member is added after the last one; comments, tabs and line ends stay', () => {
  const text =
    '{\r\n\t// mine\r\n\t"servers": {\r\n\t\t"a": { "command": "x" } // keep\r\n\t},\r\n\t"inputs": []\r\n}\r\n';
  expect(setMember(text, ['servers', 'b'], { url: 'u' })).toBe(
    '{\r\n\t// mine\r\n\t"servers": {\r\n\t\t"a": { "command": "x" }, // keep\r\n\t\t"b": {\r\n\t\t\t"url": "u"\r\n\t\t}\r\n\t},\r\n\t"inputs": []\r\n}\r\n',
  );
});

test('a trailing comma is kept as the style of the file', () => {
  const text = '{\n  "mcpServers": {\n    "a": {}, // first\n  },\n}\n';
  expect(setMember(text, ['mcpServers', 'b'], 1)).toBe(
    '{\n  "mcpServers": {\n    "a": {}, // first\n    "b": 1,\n  },\n}\n',
  );
});

test('a minified file stays on one line', () => {
  expect(setMember('{"a":1}', ['m', 'x'], { b: 2 })).toBe('{"a":1, "m": {"x":{"b":2}}}');
  expect(setMember('{"m":{}}', ['m', 'x'], 1)).toBe('{"m":{"x": 1}}');
});

test('a comment inside an empty object survives the first member', () => {
  expect(setMember('{\n  "m": {\n    // none yet\n  }\n}', ['m', 'x'], 1)).toBe(
    '{\n  "m": {\n    // none yet\n    "x": 1\n  }\n}',
  );
});

test('setting an equal value changes nothing, setting another value changes only that', () => {
  const once = setMember('{\n    "x": 1 /* one */\n}\n', ['mcpServers', 'mooring'], entry);
  expect(setMember(once, ['mcpServers', 'mooring'], entry)).toBe(once);
  const other = setMember(once, ['mcpServers', 'mooring'], { url: 'u' });
  expect(other).toContain('"x": 1, /* one */');
  expect(data(other)).toEqual({ x: 1, mcpServers: { mooring: { url: 'u' } } });
});

test('a value that is not an object is not replaced', () => {
  expect(() => setMember('{"mcpServers": []}', ['mcpServers', 'x'], 1)).toThrow(NotAnObject);
  expect(() => setMember('[1]', ['mcpServers', 'x'], 1)).toThrow('the top level is not an object');
});

test.each([
  ['{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', ['a'], '{\n  "b": 2,\n  "c": 3\n}\n'],
  ['{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', ['b'], '{\n  "a": 1,\n  "c": 3\n}\n'],
  ['{\n  "a": 1,\n  "b": 2, // two\n  "c": 3\n}\n', ['c'], '{\n  "a": 1,\n  "b": 2 // two\n}\n'],
  ['{\n  "a": 1\n}\n', ['a'], '{\n}\n'],
  ['{"a":1,"b":2}', ['a'], '{"b":2}'],
  ['{"a":1, "b":2}', ['b'], '{"a":1 }'],
  ['{"a":1}', ['a'], '{}'],
])('removes from %j the member %j', (text, path, expected) => {
  expect(removeMember(text, path)).toBe(expected);
});

test('a missing member cannot be removed', () => {
  expect(removeMember('{"a": {}}', ['a', 'b'])).toBeUndefined();
  expect(removeMember('', ['a'])).toBeUndefined();
});

const names = fc.constantFrom('a', 'b', 'mcpServers', 'x y', '__proto__x', 'ü');
const object = fc.dictionary(names, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });

test('adding and removing keep all other data of any file', () => {
  fc.assert(
    fc.property(
      object,
      names,
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(0, 2, '\t'),
      (file, name, value, indent) => {
        const text = JSON.stringify(file, null, indent);
        const { [name]: _old, ...rest } = file as Record<string, unknown>;
        const added = setMember(text, [name], value);
        expect(data(added)).toEqual(JSON.parse(JSON.stringify({ ...rest, [name]: value })));
        expect(memberAt(added, [name])).toEqual(JSON.parse(JSON.stringify(value)));
        const removed = removeMember(added, [name]) as string;
        expect(data(removed)).toEqual(JSON.parse(JSON.stringify(rest)));
      },
    ),
    { numRuns: 300 },
  );
});
