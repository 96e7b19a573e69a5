import { expect, test } from 'vitest';
import { UriRoutes } from './uris.ts';

const all = { isShown: () => true, isExcluded: () => false, hasResources: true, uris: [] };

test('a server with very many templates does not make URIs of others slow, and all its templates lead to it', () => {
  const templates = Array.from({ length: 50_000 }, (_, n) => `x://host${n}/{a}`);
  const uris = Array.from({ length: 5_000 }, (_, n) => `y://${n}`);
  const started = performance.now();
  const routes = new UriRoutes([
    { ...all, slug: 'many', templates },
    { ...all, slug: 'other', templates: [], uris },
  ]);
  for (const uri of uris) expect(routes.route(uri)).toEqual({ slug: 'other', uri });
  // All pairs of URI and template took 17 seconds.
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(routes.exposeTemplate('many', 'x://host0/{a}')).toBe('x://host0/{a}');
  expect(routes.exposeTemplate('many', 'x://host49999/{a}')).toBe('many+x://host49999/{a}');
  expect(routes.route('many+x://host49999/b')).toEqual({ slug: 'many', uri: 'x://host49999/b' });
  expect(routes.expose('many', 'x://host49999/b')).toBe('many+x://host49999/b');
});

test('a URI that no server lists is qualified while another server may turn out to have resources', () => {
  const one = { ...all, slug: 'one', templates: [] };
  const two = { ...all, slug: 'two', templates: [] };
  const known = new UriRoutes([one, { ...two, hasResources: false }]);
  expect(known.expose('one', 'x://1')).toBe('x://1');
  const before = new UriRoutes([one, { ...two, hasResources: undefined }]);
  expect(before.route('x://1')).toEqual({ slug: 'one', uri: 'x://1' });
  const exposed = before.expose('one', 'x://1');
  expect(exposed).toBe('one+x://1');
  const after = new UriRoutes([one, two]);
  expect(after.route(exposed)).toEqual({ slug: 'one', uri: 'x://1' });
  expect(after.route('x://1')).toBeUndefined();
});
