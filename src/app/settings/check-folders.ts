// Checks the folders in the settings before anything is served, so that a wrong one fails at start-up and not in the
// first call that needs it.

import { statSync } from 'node:fs';
import { reasonText } from '../../common/errno-text.ts';
import type { ResolvedSettings } from '../config/resolve.ts';
import { requireFolder } from '../make-folder.ts';
import { UsageError } from '../usage-error.ts';

/** Throws a `UsageError` for a data folder that cannot be created and for roots that do not exist. */
export function checkFolders({ settings, values }: ResolvedSettings): void {
  const data = values.get('data')?.origin;
  // The default folder is created when it is first used.
  if (data !== undefined && data.from !== 'default') requireFolder(settings.dataDir, data.where ?? 'data');
  for (const root of settings.roots) checkRoot(root, rootOrigin(values, root));
  for (const folder of settings.skills) checkRoot(folder, values.get('skills')?.origin.where ?? 'skills');
}

/** Roots that are not in the settings come from the policy. */
function rootOrigin(values: ResolvedSettings['values'], root: string): string {
  const { value, origin } = values.get('roots') ?? {};
  return (value as readonly string[] | undefined)?.includes(root) ? (origin?.where ?? 'roots') : 'The policy';
}

function checkRoot(root: string, where: string): void {
  let reason: string | undefined;
  try {
    if (statSync(root, { throwIfNoEntry: false }) !== undefined) return;
  } catch (error) {
    reason = reasonText(error, 'folder');
  }
  if (reason === undefined) throw new UsageError(`${where}: ${root} does not exist`);
  throw new UsageError(`${where}: ${root} cannot be read: ${reason}`);
}
