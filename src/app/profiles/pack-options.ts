// The options of a pack in the configuration, validated against the pack's schema, so that an error is reported at
// start-up.

import { compileSchema, formatIssues, type SchemaInput } from '../../schema/index.ts';
import type { PackName } from '../config/schema.ts';
import type { Settings } from '../settings/settings.ts';
import { UsageError } from '../usage-error.ts';

/** The options of the pack, or `{}`. Throws a `UsageError` that names the field and the error. */
export async function packOptions<T>(settings: Settings, pack: PackName, schema: SchemaInput): Promise<Partial<T>> {
  const given = settings.packs[pack];
  if (given === undefined) return {};
  const { validator } = compileSchema(schema, { direction: 'input', root: 'object', where: `packs.${pack}` });
  const checked = await validator.validate(given);
  if (!checked.ok) throw new UsageError(`Invalid configuration of packs.${pack}: ${formatIssues(checked.issues)}`);
  return checked.value as Partial<T>;
}
