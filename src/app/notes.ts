// Notes from the outside: who keeps how much in the data folder, and how an operator deletes some of it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { principalKey } from '../protocol/principal.ts';
import { type DataFolder, openDataFolder } from '../stores/sqlite/index.ts';
import { Mistake } from './mistake.ts';

/** What one caller keeps. Callers without a name are one. */
export interface KeptNotes {
  readonly caller: string | undefined;
  readonly issuer: string | undefined;
  readonly notes: number;
  readonly bytes: number;
}

/** Everybody who keeps something in a data folder. */
export function listCallers(dataDir: string): Promise<KeptNotes[]> {
  return withFolder(dataDir, async ({ notes }) =>
    (await notes.owners()).map(({ owner, ...kept }) => {
      const [issuer, id] = owner === '' ? [] : owner.split('\u0000');
      return { caller: id, issuer: issuer || undefined, ...kept };
    }),
  );
}

/** Deletes notes of one caller, all of them where no ids are given; says which there were. */
export function deleteNotes(
  dataDir: string,
  { caller, issuer }: Pick<KeptNotes, 'caller' | 'issuer'>,
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
    throw new Mistake(`There are no notes in ${dataDir}; choose another folder with --data DIR`);
  }
  const data = await openDataFolder(dataDir, { pollMs: 0, copyAfterMs: 0 });
  try {
    return await work(data);
  } finally {
    await data.close();
  }
}
