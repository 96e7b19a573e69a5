// Arguments without secrets, for what is kept between runs.

import type { FieldReader } from './field.ts';
import type { ExactJson } from './json-text.ts';
import type { Schema } from './merge.ts';

/** Names that secrets usually have, where the schema does not mark them. */
const secretName = /pass(word|phrase)|secret|token|api[-_]?key|credential|private[-_]?key|authorization/i;

export function withoutSecrets(schema: Schema, value: ExactJson, reader: FieldReader): ExactJson {
  const field = reader.read(schema);
  if (Array.isArray(value)) {
    const part = (index: number): Schema => (field.kind === 'list' ? (field.prefix[index] ?? field.items ?? {}) : {});
    return value.map((each: ExactJson, index) => withoutSecrets(part(index), each, reader));
  }
  if (!(value instanceof Map)) return value;
  const kept = new Map<string, ExactJson>();
  for (const [key, each] of value as ReadonlyMap<string, ExactJson>) {
    const part = partOf(field, key, reader);
    if (secretName.test(key) || part.some((schemaOfPart) => reader.read(schemaOfPart).secret)) continue;
    kept.set(key, withoutSecrets(part[0] ?? {}, each, reader));
  }
  return kept;
}

/** The schemas that may apply to a key; of a choice, those of all its branches. */
function partOf(field: ReturnType<FieldReader['read']>, key: string, reader: FieldReader): Schema[] {
  if (field.kind === 'choice')
    return field.branches.flatMap((branch) => partOf(reader.read(branch.schema), key, reader));
  if (field.kind !== 'object') return [];
  const property = field.properties.find(({ name }) => name === key);
  return property !== undefined ? [property.schema] : field.entries !== undefined ? [field.entries] : [];
}
