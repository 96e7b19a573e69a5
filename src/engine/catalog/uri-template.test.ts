import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxUriLength, UriTemplate } from './uri-template.ts';

const cases: readonly [template: string, uri: string, values: Record<string, string> | undefined][] = [
  ['note://{id}', 'note://7', { id: '7' }],
  ['note://{id}', 'note://', undefined],
  ['note://{id}', 'note://a/b', undefined],
  ['note://{id}', 'note://a%2Fb', { id: 'a/b' }],
  ['note://{id}', 'note://%E4%B8%96', { id: '世' }],
  ['note://{id}', 'note://%zz', undefined],
  ['note://{id}', 'NOTE://7', undefined],
  ['test://template/{id}/data', 'test://template/123/data', { id: '123' }],
  ['test://template/{id}/data', 'test://template/123/data/', undefined],
  ['test://{a}/{b}', 'test://x/y', { a: 'x', b: 'y' }],
  ['test://{a,b}', 'test://x,y', { a: 'x', b: 'y' }],
  ['file:///{+path}', 'file:///a/b/c.txt', { path: 'a/b/c.txt' }],
  ['file:///{+path}', 'file:///', { path: '' }],
  ['file:///{+path}.md', 'file:///a.md/b.md', { path: 'a.md/b' }],
  ['doc://x{/section}', 'doc://x/intro', { section: 'intro' }],
  ['doc://x{/a,b}', 'doc://x/1/2', { a: '1', b: '2' }],
  ['doc://x{/path*}', 'doc://x/1/2/3', { path: '1/2/3' }],
  ['doc://x{#part}', 'doc://x#here', { part: 'here' }],
  ['doc://x{.format}', 'doc://x.json', { format: 'json' }],
  ['find://all{?q,lang}', 'find://all?q=tea&lang=en', { q: 'tea', lang: 'en' }],
  ['find://all{?q,lang}', 'find://all?lang=en', { lang: 'en' }],
  ['find://all{?q,lang}', 'find://all', {}],
  ['find://all{?q}', 'find://all?other=1', undefined],
  ['find://all?x=1{&q}', 'find://all?x=1&q=2', { q: '2' }],
];

test.each(cases)('%s on %s', (template, uri, values) => {
  const matched = new UriTemplate(template).match(uri);
  expect(matched === undefined ? undefined : { ...matched }).toEqual(values);
});

test.each([
  ['note://{id', 'never closed'],
  ['note://id}', 'without a'],
  ['note://{a}{b}', 'are adjacent'],
  ['note://{a b}', 'not a list of variable names'],
  ['note://{a:3}', 'prefix modifiers'],
  ['note://{a}/{a}', 'used twice'],
  ['note://fixed', 'no variable'],
  ['{scheme}://x', 'must begin with a scheme'],
])('%s is rejected with a reason', (template, reason) => {
  expect(() => new UriTemplate(template)).toThrow(reason);
});

test('matching takes time proportional to the length of the URI, however hostile it is', () => {
  const template = new UriTemplate('x://{/id*}{?q*}');
  const hostile = `x://${'/,'.repeat(maxUriLength / 2)}`;
  expect(template.match(hostile)).toBeUndefined();
  expect(template.match(`x://${','.repeat(1_000_000)}`)).toBeUndefined();
});

test('names of object properties are plain names', () => {
  const matched = new UriTemplate('n://{__proto__}/{constructor}').match('n://a/b');
  expect(Object.entries(matched ?? {})).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});

test('a simple variable returns the value it was expanded with', () => {
  const template = new UriTemplate('n://{a}/x/{b}');
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.string({ minLength: 1 }), (a, b) => {
      const uri = `n://${encodeURIComponent(a)}/x/${encodeURIComponent(b)}`;
      expect({ ...template.match(uri) }).toEqual({ a, b });
    }),
  );
});
