// mooring token: creates, lists and revokes bearer tokens.

import { join, resolve } from 'node:path';
import { addToken, createToken, readTokens, revokeToken, type TokenEntry } from '../../app/auth/tokens.ts';
import { resolveSettings } from '../../app/config/resolve.ts';
import { UsageError } from '../../app/usage-error.ts';
import { command } from '../command.ts';
import type { Output } from '../ui/output.ts';
import { type Column, table } from '../ui/table.ts';

const help = `Usage: mooring token [add NAME | list | revoke NAME] [options]

Creates and manages bearer tokens for "mooring serve --http". A token is shown once; only its hash is stored.

  mooring token              print a new token and store nothing (for MOORING_TOKEN)
  mooring token add NAME     create a token for a caller and store its hash
  mooring token list         list the stored tokens
  mooring token revoke NAME  delete the token of a caller

Options:
  --file FILE       token file (default: "auth.tokenFile" in the settings, otherwise tokens.json in the data folder)
  --scope SCOPE     add: a scope of the token; repeatable
  --expires WHEN    add: expiry date, such as 2026-12-31, or 30d for 30 days from now
  --config FILE     read settings from this file
  --data DIR        data folder
  --json            print JSON
  -h, --help        show this help
`;

const verbs: readonly string[] = ['add', 'list', 'revoke'];

const options = {
  file: { type: 'string' },
  scope: { type: 'string', multiple: true },
  expires: { type: 'string' },
  config: { type: 'string' },
  data: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const run = command({ name: 'token', help, options }, async ({ values, positionals, out }) => {
  const [what, name, ...more] = positionals;
  if (more.length > 0)
    throw new UsageError('Too many arguments: a name must not contain spaces. See "mooring token --help"');
  if (what === undefined) {
    const { token } = createToken();
    if (values.json === true) out.json({ token });
    else out.write(`${token}\n`);
    return 0;
  }
  if (!verbs.includes(what)) throw new UsageError(`Unknown action ${JSON.stringify(what)}. Use add, list or revoke`);
  const file = await fileOf(values);
  if (what === 'list') return list(readTokens(file), file, values.json === true, out);
  if (name === undefined || !/^[\w.@+-]{1,64}$/.test(name)) {
    throw new UsageError(`Name the caller: mooring token ${what} NAME, where NAME has letters, digits and . _ @ + -`);
  }
  if (what === 'add') {
    const token = addToken(file, {
      id: name,
      ...(values.scope === undefined ? {} : { scopes: values.scope }),
      ...(values.expires === undefined ? {} : { expires: expiry(values.expires) }),
    });
    out.write(values.json === true ? `${JSON.stringify({ id: name, token, file })}\n` : `${token}\n`);
    out.info(
      `\nThis token is shown only once. Its hash is stored in ${file}\nStart the server with: mooring serve --http --token-file ${file}\n`,
    );
    return 0;
  }
  revokeToken(file, name);
  if (values.json === true) out.json({ id: name, file });
  out.info(
    `Revoked the token of ${name}. To apply it, let the server reload its files (kill -HUP <pid>) or restart it.\n`,
  );
  return 0;
});

async function fileOf(values: { file?: string; config?: string; data?: string }): Promise<string> {
  if (values.file !== undefined) return resolve(values.file);
  const flags: Record<string, readonly string[]> = values.data === undefined ? {} : { data: [values.data] };
  const { settings } = await resolveSettings({ flags, configFile: values.config });
  return settings.auth?.tokenFile ?? join(settings.dataDir, 'tokens.json');
}

function expiry(text: string): string {
  const days = /^(\d{1,4})d$/.exec(text);
  const date = days === null ? new Date(text) : new Date(Date.now() + Number(days[1]) * 86_400_000);
  if (Number.isNaN(date.getTime()))
    throw new UsageError(
      `--expires is not a valid date: ${JSON.stringify(text)}. Write a date such as 2026-12-31, or 30d`,
    );
  if (date.getTime() <= Date.now()) throw new UsageError(`--expires ${text} is in the past`);
  return date.toISOString();
}

function list(tokens: readonly TokenEntry[], file: string, json: boolean, out: Output): number {
  if (json) {
    out.json(tokens.map(({ hash: _hash, ...rest }) => rest));
    return 0;
  }
  if (tokens.length === 0) {
    out.info(`There are no tokens in ${file}. "mooring token add NAME" creates one\n`);
    return 0;
  }
  const { style, width } = out;
  const columns: Column<TokenEntry>[] = [
    { title: 'name', text: ({ id }) => id, paint: (text) => style.name(text) },
    {
      title: 'expires',
      text: ({ expires }) => expires?.slice(0, 10) ?? 'never',
      paint: (text, { expires }) =>
        expires !== undefined && Date.parse(expires) <= Date.now() ? style.bad(text) : text,
    },
    { title: 'scopes', text: ({ scopes = [] }) => scopes.join(' ') || '–' },
  ];
  out.write(table(tokens, columns, { style, width }));
  return 0;
}
