// The file of token hashes: who may come in. Tokens themselves are shown once and kept nowhere.

import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createToken, readTokenFile, type TokenEntry } from '../security/auth/index.ts';
import { requireFolder } from './make-folder.ts';
import { Mistake } from './mistake.ts';

export { createToken, type TokenEntry } from '../security/auth/index.ts';

/** The entries of a file; none when it does not exist. */
export function readTokens(file: string): TokenEntry[] {
  if (!existsSync(file)) return [];
  try {
    return readTokenFile(file);
  } catch (error) {
    throw new Mistake(
      (error as Error).message.includes(file) ? (error as Error).message : `${file}: ${(error as Error).message}`,
    );
  }
}

/** Makes a token for somebody and keeps its hash. The result is the token, to be shown once. */
export function addToken(file: string, entry: Omit<TokenEntry, 'hash'>): string {
  const known = readTokens(file);
  if (known.some(({ id }) => id === entry.id)) {
    throw new Mistake(`There is a token for ${entry.id} already; "mooring token revoke ${entry.id}" takes it away`);
  }
  const { token, hash } = createToken();
  write(file, [...known, { ...entry, hash }]);
  return token;
}

/** Takes the token of somebody away. */
export function revokeToken(file: string, id: string): void {
  const known = readTokens(file);
  const left = known.filter((entry) => entry.id !== id);
  if (left.length === known.length) {
    throw new Mistake(`There is no token for ${id}; there are ${known.map((entry) => entry.id).join(', ') || 'none'}`);
  }
  write(file, left);
}

/** Whole or not at all, for the owner alone. */
function write(file: string, tokens: readonly TokenEntry[]): void {
  requireFolder(dirname(file), 'The token file');
  const fresh = `${file}.${process.pid}`;
  try {
    writeFileSync(fresh, `${JSON.stringify({ tokens }, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
