// The notes in the data folder for an operator: list callers, delete notes.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { principalKey } from '../../protocol/callers/principal.ts';
import { type DataFolder, openDataFolder } from '../../stores/sqlite/index.ts';
import { UsageError } from '../usage-error.ts';

/** The notes of one caller. All unauthenticated callers share one entry. */
export interface CallerNotes {
  readonly caller: string | undefined;
  readonly issuer: string | undefined;
  readonly notes: number;
  readonly bytes: number;
}

/** All callers with notes in a data folder. */
export function listCallers(dataDir: string): Promise<CallerNotes[]> {
  return withFolder(dataDir, async ({ notes }) =>
    (await notes.owners()).map(({ owner, ...kept }) => {
      const [issuer, id] = owner === '' ? [] : owner.split('\u0000');
      return { caller: id, issuer: issuer || undefined, ...kept };
    }),
  );
}

/** Deletes notes of one caller and returns the ids that existed. */
export function deleteNotes(
  dataDir: string,
  { caller, issuer }: Pick<CallerNotes, 'caller' | 'issuer'>,
  ids: readonly string[] | 'all',
): Promise<string[]> {
  const owner = principalKey(caller === undefined ? undefined : { id: caller, ...(issuer && { issuer }) });
  return withFolder(dataDir, async ({ notes }) => {
    const wanted = ids === 'all' ? (await notes.ids(owner, '', Number.MAX_SAFE_INTEGER)).values : ids;
    const deleted = await Promise.all(wanted.map((id) => notes.delete(owner, id)));
    return wanted.filter((_, index) => deleted[index]);
  });
}

async function withFolder<T>(dataDir: string, work: (data: DataFolder) => Promise<T>): Promise<T> {
  if (!existsSync(join(dataDir, 'mooring.db'))) {
    throw new UsageError(`There are no notes in ${dataDir}. Choose another folder with --data DIR`);
  }
  const data = await openDataFolder(dataDir, { pollMs: 0, backupAfterMs: 0 });
  try {
    return await work(data);
  } finally {
    await data.close();
  }
}
