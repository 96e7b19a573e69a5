import { expect, test } from 'vitest';
import { parseToml, TomlError } from './toml.ts';
import { hasTable, removeTable, setTable, TomlShape } from './toml-edit.ts';

const sample = `# my settings
model = "o5" # which
approval_policy = 'on-request'

[mcp_servers.docs]
command = "uv"
args = [
  "run", # first
  "docs",
]

[mcp_servers.docs.env]
"API KEY" = """
several
lines ""still"""""

[profiles.fast]
dates = [1979-05-27T07:32:00Z, 07:32:00]
numbers = [0xff, 1_000, -3.5e10, inf]
point = { x = 1, y.z = "[not a table]" }

[[fruit]]
name = "apple"
`;

test('statements are found with their paths', () => {
  expect(parseToml(sample).map(({ kind, path }) => `${kind} ${path.join('.')}`)).toEqual([
    'pair model',
    'pair approval_policy',
    'table mcp_servers.docs',
    'pair mcp_servers.docs.command',
    'pair mcp_servers.docs.args',
    'table mcp_servers.docs.env',
    'pair mcp_servers.docs.env.API KEY',
    'table profiles.fast',
    'pair profiles.fast.dates',
    'pair profiles.fast.numbers',
    'pair profiles.fast.point',
    'array-table fruit',
    'pair fruit.name',
  ]);
});

test('arrays of tables may repeat the tables below them', () => {
  const text = `[[hooks]]
name = "a" # first
[hooks.env]
A = "1"
[[hooks]]
name = "b"
[hooks.env]
[[hooks.steps]]
[hooks.steps.run]
[[hooks.steps]]
[hooks.steps.run]
`;
  expect(parseToml(text).filter(({ kind }) => kind === 'table')).toHaveLength(4);
  const added = setTable(text, ['mcp_servers', 'mooring'], server);
  expect(added).toBe(`${text}\n${block}`);
  expect(removeTable(added, ['mcp_servers', 'mooring'])).toBe(text);
});

test('CRLF, a byte order mark and a missing last line feed stay as they are', () => {
  const text = '\ufeff# top\r\n[a] # why\r\nb = 1 # note';
  expect(setTable(text, ['m', 'x'], { c: 'd' })).toBe(`${text}\r\n\r\n[m.x]\r\nc = "d"\r\n`);
  expect(removeTable(`${text}\r\n[m.x]\r\nc = 1`, ['m', 'x'])).toBe(`${text}\r\n`);
});

test.each([
  'a = ',
  'a = b',
  'a = "x',
  '[a',
  'a = 1 b = 2',
  '[a]\n[a]\n',
  'a = [1 2]',
  '= 1',
  "a = '''x",
  'a = 2026-13',
  '{"a": 1}',
  'a = 1\na = 2\n',
  '[a]\nb = 1\n[a.b]\n',
])('%j is not valid TOML', (text) => {
  expect(() => parseToml(text)).toThrow(TomlError);
});

const server = { command: 'npx', args: ['-y', 'mooring'], env: { A: 'x "quoted" \\ ü' } };
const block = `[mcp_servers.mooring]
command = "npx"
args = ["-y", "mooring"]

[mcp_servers.mooring.env]
A = "x \\"quoted\\" \\\\ ü"
`;

test('a table is added at the end, and nothing else changes', () => {
  expect(setTable(sample, ['mcp_servers', 'mooring'], server)).toBe(`${sample}\n${block}`);
  expect(setTable('', ['mcp_servers', 'mooring'], server)).toBe(block);
  expect(setTable('a = 1', ['mcp_servers', 'mooring'], server)).toBe(`a = 1\n\n${block}`);
});

test('adding it twice changes nothing, and removing it restores the file', () => {
  const once = setTable(sample, ['mcp_servers', 'mooring'], server);
  expect(setTable(once, ['mcp_servers', 'mooring'], server)).toBe(once);
  expect(hasTable(once, ['mcp_servers', 'mooring'])).toBe(true);
  expect(removeTable(once, ['mcp_servers', 'mooring'])).toBe(sample);
  expect(removeTable(sample, ['mcp_servers', 'mooring'])).toBeUndefined();
});

test('a table in the middle is replaced with its subtables, and comments of the next one stay', () => {
  const text = `[mcp_servers.mooring]\ncommand = "old"\n[mcp_servers.mooring.env]\nB = "1"\n\n# the next\n[other]\nx = 1\n`;
  expect(setTable(text, ['mcp_servers', 'mooring'], { url: 'http://h/mcp' })).toBe(
    `[mcp_servers.mooring]\nurl = "http://h/mcp"\n\n# the next\n[other]\nx = 1\n`,
  );
  expect(removeTable(text, ['mcp_servers', 'mooring'])).toBe('# the next\n[other]\nx = 1\n');
});

test('names that need quotes get them and are found again', () => {
  const text = setTable('', ['mcp_servers', 'my server.x'], { command: 'c' });
  expect(text).toBe('[mcp_servers."my server.x"]\ncommand = "c"\n');
  expect(hasTable(text, ['mcp_servers', 'my server.x'])).toBe(true);
});

test('a pair that stays the same keeps its text', () => {
  const text = '[mcp_servers.mooring]\ncommand = "old"\ntool_timeout_sec = 20.0 # slow disk\n';
  expect(setTable(text, ['mcp_servers', 'mooring'], { command: 'new', tool_timeout_sec: 20 })).toBe(
    '[mcp_servers.mooring]\ncommand = "new"\ntool_timeout_sec = 20.0 # slow disk\n',
  );
});

const other = '[mcp_servers.other]\nurl = "http://h"\n';

test.each([
  ['[mcp_servers]\nmooring = { command = "x" } # mine\n', `[mcp_servers]\n\n${block}`],
  ['mcp_servers.mooring.command = "x"\na = 1\n', `a = 1\n\n${block}`],
  ['mcp_servers.mooring.command = "x"\nmcp_servers.b.command = "y"\n', `mcp_servers.b.command = "y"\n\n${block}`],
  ['mcp_servers = {}\n', block],
  ['mcp_servers = { other = { url = "http://h" } }\n', `${other}\n${block}`],
  [
    'a = 1\n[mcp_servers.mooring]\nb = 1\n[x]\nb = 1\n[mcp_servers.mooring.env]\nc = "1"\n',
    `a = 1\n[x]\nb = 1\n\n${block}`,
  ],
])('an entry in another form is rewritten, and the rest stays: %j', (text, expected) => {
  const next = setTable(text, ['mcp_servers', 'mooring'], server);
  expect(next).toBe(expected);
  expect(hasTable(next, ['mcp_servers', 'mooring'])).toBe(true);
  expect(hasTable(removeTable(next, ['mcp_servers', 'mooring']) as string, ['mcp_servers', 'mooring'])).toBe(false);
});

test('an entry in another form is removed, and the rest stays', () => {
  const path = ['mcp_servers', 'mooring'];
  expect(removeTable('[mcp_servers]\nmooring = { command = "x" }\nb = 1\n', path)).toBe('[mcp_servers]\nb = 1\n');
  expect(removeTable('mcp_servers = { other = { url = "http://h" }, mooring = { a = 1 } }\n', path)).toBe(other);
});

test.each(['[[mcp_servers]]\na = 1\n', 'mcp_servers = 1\n', '[mcp_servers]\nmooring = 1\n'])(
  'what is not a table is not changed: %j',
  (text) => {
    expect(() => setTable(text, ['mcp_servers', 'mooring'], server)).toThrow(TomlShape);
  },
);
