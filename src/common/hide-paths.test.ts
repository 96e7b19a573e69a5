import { expect, test } from 'vitest';
import { hidePaths } from './hide-paths.ts';

test.each([
  ['/home/ada/data/mooring.db', '…/mooring.db'],
  ['cannot open /var/lib/x: no space is left', 'cannot open …/x: no space is left'],
  [
    "Cannot find module '/srv/a/b.mjs' imported from /srv/a/c.mjs",
    "Cannot find module '…/b.mjs' imported from …/c.mjs",
  ],
  ['file:///srv/plugins/x.mjs:3:1', '…/x.mjs:3:1'],
  ['(/srv/x) "/srv/y" =/srv/z', '(…/x) "…/y" =…/z'],
  ['C:\\Users\\ada\\x.db and D:/data/y', '…/x.db and …/y'],
  ['\\\\server\\share\\x', '…/x'],
  ['/data', '…/data'],
  ['https://api.example.org/v1/x and/or ws://h:1/mcp', 'https://api.example.org/v1/x and/or ws://h:1/mcp'],
  ['application/json, 3/4, a.b/c, no path at all', 'application/json, 3/4, a.b/c, no path at all'],
])('%j is shown as %j', (text, shown) => {
  expect(hidePaths(text)).toBe(shown);
});

test('known folders are found even with spaces in their names, the longest first', () => {
  const folders = ['/', '/home/ada', '/home/ada/my files'];
  expect(hidePaths('/home/ada/my files/a b/c.db is damaged', folders)).toBe('…/a b/c.db is damaged');
  expect(hidePaths('/home/ada/x', folders)).toBe('…/x');
});
