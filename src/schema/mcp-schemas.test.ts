// The official schemas of the five revisions, and the official examples, validated by our compiler. They are large,
// recursive and written in two dialects: a good referee. Read from beside the checkout, where they are kept.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { formatIssues } from './checks/issues.ts';
import { JsonSchemaValidator, loadGenerator } from './json-schema-validator.ts';
import { parseSchema } from './parse/parse.ts';
import type { JsonSchema } from './types.ts';

await loadGenerator();

const spec = fileURLToPath(new URL('../../../shared/spec/', import.meta.url));
const here = existsSync(`${spec}schema`);
const revisions = here ? readdirSync(`${spec}schema`) : ['(the official schemas are not beside this checkout)'];

function load(revision: string): { schema: JsonSchema; place: '$defs' | 'definitions' } {
  const schema = JSON.parse(readFileSync(`${spec}schema/${revision}/schema.json`, 'utf8')) as JsonSchema;
  return { schema, place: '$defs' in schema ? '$defs' : 'definitions' };
}

describe.skipIf(!here).each(revisions)('%s', (revision) => {
  test('every definition compiles, to closures and to code', () => {
    const { schema, place } = load(revision);
    const names = Object.keys(schema[place] as object);
    expect(names.length).toBeGreaterThan(50);
    for (const name of names) {
      const { plan, needsAjv } = parseSchema({ ...schema, $ref: `#/${place}/${name}` }, name);
      expect(needsAjv).toBeUndefined();
      const closures = new JsonSchemaValidator(() => plan, Number.POSITIVE_INFINITY);
      const generated = new JsonSchemaValidator(() => plan, 0);
      generated.check({});
      for (const value of [{}, null, [], 'x', { jsonrpc: '2.0', id: 1, method: 'ping', params: {} }]) {
        expect(generated.check(value)).toEqual(closures.check(value));
      }
    }
  });
});

const folder = `${spec}examples/2026-07-28`;
const examples = here
  ? readdirSync(folder).flatMap((name) => readdirSync(`${folder}/${name}`).map((file) => [name, file] as const))
  : [];

test.skipIf(!here)('every official example of 2026-07-28 is valid, and spoiled it is not', () => {
  const { schema } = load('2026-07-28');
  expect(examples.length).toBeGreaterThan(80);
  for (const [name, file] of examples) {
    const { plan } = parseSchema({ ...schema, $ref: `#/$defs/${name}` }, name);
    const value: unknown = JSON.parse(readFileSync(`${folder}/${name}/${file}`, 'utf8'));
    for (const validator of [
      new JsonSchemaValidator(() => plan, Number.POSITIVE_INFINITY),
      new JsonSchemaValidator(() => plan, 0),
    ]) {
      for (let call = 0; call < 2; call++) {
        expect(`${name}/${file}: ${formatIssues(validator.check(value) ?? [])}`).toBe(`${name}/${file}: `);
      }
      expect(validator.check('spoiled')).not.toBeUndefined();
    }
  }
});
