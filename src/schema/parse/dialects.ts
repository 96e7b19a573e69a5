// The JSON Schema dialect of a schema. An unknown dialect is rejected rather than guessed.
import { show } from '../checks/issues.ts';
import { SchemaError } from '../schema-error.ts';
import type { JsonSchema } from '../types.ts';

/** The known dialects; draft-06 is draft-07 without `if`. */
export type SchemaDialect = '2020-12' | '2019-09' | 'draft-07';

const dialects: ReadonlyMap<string, SchemaDialect> = new Map([
  ['json-schema.org/draft/2020-12/schema', '2020-12'],
  ['json-schema.org/draft/2019-09/schema', '2019-09'],
  ['json-schema.org/draft-07/schema', 'draft-07'],
  ['json-schema.org/draft-06/schema', 'draft-07'],
]);

/** The dialect named by `$schema`; 2020-12 where none is named, as MCP has it. */
export function readDialect(root: JsonSchema, where: string): SchemaDialect {
  const named = root['$schema'];
  if (named === undefined) return '2020-12';
  const dialect = typeof named === 'string' ? dialectAt(named) : undefined;
  if (dialect !== undefined) return dialect;
  throw new SchemaError(
    `${where}: the dialect ${show(named)} is not known. ` +
      'Leave "$schema" out for 2020-12, or name 2020-12, 2019-09 or draft-07 of json-schema.org.',
  );
}

/** The dialect whose meta-schema has this address. */
export function dialectAt(address: string): SchemaDialect | undefined {
  return dialects.get(address.replace(/^https?:\/\//, '').replace(/#$/, ''));
}
