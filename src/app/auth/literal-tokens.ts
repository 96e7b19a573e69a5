// The principals of tokens given by value (MOORING_TOKEN, --token, auth.tokens). A principal is identified by the name
// in front of the token, or by a hash of the token; never by its position in the list, which can change.

import type { Logger } from '../../common/logger.ts';
import { principalKey } from '../../engine/ports.ts';
import { hashToken, idOfToken, type TokenEntry, tokenIssuer } from '../../security/auth/index.ts';
import type { Data } from '../profiles/index.ts';
import { UsageError } from '../usage-error.ts';

const where = 'MOORING_TOKEN, --token';

/** `TOKEN` or `NAME:TOKEN`: a token has no colon (RFC 6750 §2.1), so this is unambiguous. */
const pattern = /^(?:([\w.@+-]{1,64}):)?([A-Za-z0-9._~+/-]*=*)$/;

/** The entries of tokens given by value. A name may have several tokens, for rotation. */
export function readLiteralTokens(tokens: readonly string[]): TokenEntry[] {
  const entries = tokens.map(readLiteralToken);
  const names = new Map<string, string>();
  for (const { id, hash } of entries) {
    const known = names.get(hash);
    if (known !== undefined && known !== id) throw new UsageError(`${where}: the same token is given under two names`);
    names.set(hash, id);
  }
  return entries;
}

function readLiteralToken(text: string): TokenEntry {
  const [, name, token] = pattern.exec(text) ?? [];
  if (token === undefined) {
    throw new UsageError(
      `${where}: write TOKEN or NAME:TOKEN. A name has letters, digits and . _ @ + -; a token letters, digits and - . _ ~ + /`,
    );
  }
  try {
    return { id: name ?? idOfToken(token), hash: hashToken(token) };
  } catch (error) {
    throw new UsageError(`${where}: ${(error as Error).message}`);
  }
}

/** Ids that earlier versions gave to tokens by their position in the list. */
const positions = ['token', ...Array.from({ length: 64 }, (_, i) => `token-${i + 1}`)];

/**
 * Warns about data stored under the position of a token. It is not moved: the tokens may have been rotated since, so a
 * guess could give the data to another caller.
 */
export async function warnAboutPositions(data: Data, tokens: readonly TokenEntry[], logger: Logger): Promise<void> {
  if (!data.exists()) return;
  const left = await callersWithData(
    data,
    positions.filter((id) => !tokens.some((each) => each.id === id)),
  );
  if (left.length === 0) return;
  const callers = `the ${left.length === 1 ? 'caller' : 'callers'} ${left.map((id) => JSON.stringify(id)).join(', ')}`;
  logger.warn(
    `The data folder has data of ${callers}, which an earlier version named after the position of a token in the list. ` +
      'No token gives access to it now. If you know which token it belonged to, put that name before the ' +
      `token: MOORING_TOKEN=${left.at(-1)}:TOKEN`,
  );
}

async function callersWithData(data: Data, ids: readonly string[]): Promise<string[]> {
  const { notes, records } = await data.open();
  const workers = [...(await records('worker').list()).values()] as { readonly owner?: unknown }[];
  const found: string[] = [];
  for (const id of ids) {
    const owner = principalKey({ id, issuer: tokenIssuer });
    const { total } = await notes.list(owner, { limit: 1, maxCharacters: 0 });
    if (total > 0 || (await notes.counter(owner)) !== 0 || workers.some((each) => each.owner === owner)) found.push(id);
  }
  return found;
}
