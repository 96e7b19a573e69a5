// What the configuration says about a pack, checked against the pack's own schema, so that a mistake is one sentence at
// the start and not a surprise later.

import { compileSchema, formatIssues, type SchemaInput } from '../../schema/index.ts';
import { Mistake } from '../mistake.ts';
import type { Settings } from '../settings.ts';

/** The options of the pack, or `{}`; throws a `Mistake` that names the place and what is wrong there. */
export async function packOptions<T>(settings: Settings, pack: string, schema: SchemaInput): Promise<Partial<T>> {
  const given = settings.packs[pack];
  if (given === undefined) return {};
  const { validator } = compileSchema(schema, { direction: 'input', root: 'object', where: `packs.${pack}` });
  const checked = await validator.validate(given);
  if (!checked.ok) throw new Mistake(`Configuration of packs.${pack}: ${formatIssues(checked.issues)}`);
  return checked.value as Partial<T>;
}
