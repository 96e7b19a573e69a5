// Folders and files that somebody named, looked at before anything is served: a wrong one is told at the start, and not by
// the first call that needs it.

import { systemReason } from '../protocol/system-reasons.ts';
import type { Settled } from './config/settle.ts';
import { requireFolder } from './make-folder.ts';
import { Mistake } from './mistake.ts';
import { statSync } from './node-modules.ts';

/** Throws a `Mistake` for a data folder that can not be made and for roots that are not there. */
export function checkPlaces({ settings, values }: Settled): void {
  const data = values.get('data')?.origin;
  // The usual place is made when something is first kept there.
  if (data !== undefined && data.from !== 'default') requireFolder(settings.dataDir, data.where ?? 'data');
  for (const root of settings.roots) checkRoot(root, rootOrigin(values, root));
}

/** Roots that were not asked for are those of the policy. */
function rootOrigin(values: Settled['values'], root: string): string {
  const { value, origin } = values.get('roots') ?? {};
  return (value as readonly string[] | undefined)?.includes(root) ? (origin?.where ?? 'roots') : 'The policy';
}

function checkRoot(root: string, where: string): void {
  let reason: string | undefined;
  try {
    if (statSync(root, { throwIfNoEntry: false }) !== undefined) return;
  } catch (error) {
    reason = systemReason(error, 'folder') ?? (error as Error).message;
  }
  if (reason === undefined) throw new Mistake(`${where}: there is no ${root}`);
  throw new Mistake(`${where}: ${root} can not be offered: ${reason}`);
}
