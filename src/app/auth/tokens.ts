// The file of token hashes. The tokens themselves are shown once and never stored.

import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createToken, readTokenFile, type TokenEntry } from '../../security/auth/index.ts';
import { makeFolder } from '../make-folder.ts';
import { UsageError } from '../usage-error.ts';
import { cannotWrite } from '../write-file.ts';

export { createToken, type TokenEntry } from '../../security/auth/index.ts';

/** The entries of a file; none if it does not exist. */
export function readTokens(file: string): TokenEntry[] {
  if (!existsSync(file)) return [];
  try {
    return readTokenFile(file);
  } catch (error) {
    throw new UsageError(
      (error as Error).message.includes(file) ? (error as Error).message : `${file}: ${(error as Error).message}`,
    );
  }
}

/** Creates a token for a caller and stores its hash. Returns the token, to be shown once. */
export function addToken(file: string, entry: Omit<TokenEntry, 'hash'>): string {
  const known = readTokens(file);
  if (known.some(({ id }) => id === entry.id)) {
    throw new UsageError(
      `There is already a token for ${entry.id}. Remove it first with "mooring token revoke ${entry.id} --file ${file}"`,
    );
  }
  const { token, hash } = createToken();
  write(file, [...known, { ...entry, hash }]);
  return token;
}

/** Removes the token of a caller. */
export function revokeToken(file: string, id: string): void {
  const known = readTokens(file);
  const left = known.filter((entry) => entry.id !== id);
  if (left.length === known.length) {
    throw new UsageError(
      `There is no token for ${id}. Existing tokens: ${known.map((entry) => entry.id).join(', ') || 'none'}`,
    );
  }
  write(file, left);
}

/** Written atomically, readable only by the owner. */
function write(file: string, tokens: readonly TokenEntry[]): void {
  const fresh = `${file}.${process.pid}`;
  try {
    makeFolder(dirname(file));
    writeFileSync(fresh, `${JSON.stringify({ tokens }, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
  } catch (error) {
    if (existsSync(fresh)) rmSync(fresh, { force: true });
    throw cannotWrite(file, error, 'Nothing was changed. Choose another file with --file, or check its folder');
  }
}
