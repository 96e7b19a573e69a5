// mooring token: bearer tokens for a server over HTTP.

import { join, resolve } from 'node:path';
import { settle } from '../../app/config/settle.ts';
import { Mistake } from '../../app/mistake.ts';
import { defaultProfile } from '../../app/profiles/index.ts';
import { addToken, createToken, readTokens, revokeToken, type TokenEntry } from '../../app/tokens.ts';
import { type Output, openOutput } from '../ui/output.ts';
import { type Column, table } from '../ui/table.ts';
import { readArgs } from '../usage.ts';

const help = `Usage: mooring token [add NAME | list | revoke NAME] [options]

Bearer tokens for "mooring serve --http". A token is shown once; its hash is kept in a file.

  mooring token              prints a new token and keeps nothing (for MOORING_TOKEN)
  mooring token add NAME     makes one for somebody and keeps its hash
  mooring token list         who has one
  mooring token revoke NAME  takes it away

Options:
  --file FILE       the file (default: "auth.tokenFile" of the settings, else tokens.json in the data folder)
  --scope SCOPE     what the token is good for; repeatable
  --expires WHEN    2026-12-31, or 30d from now
  --config FILE     settings from this file
  --data DIR        the data folder
  --json            for programs
  -h, --help        show this
`;

const verbs: readonly string[] = ['add', 'list', 'revoke'];

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs('token', args, {
    file: { type: 'string' },
    scope: { type: 'string', multiple: true },
    expires: { type: 'string' },
    config: { type: 'string' },
    data: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  const out = openOutput();
  if (values.help === true) {
    out.write(help);
    return 0;
  }
  const [what, name, ...more] = positionals;
  if (more.length > 0) throw new Mistake('Names have no spaces; see "mooring token --help"');
  if (what === undefined) {
    const { token } = createToken();
    if (values.json === true) out.json({ token });
    else out.write(`${token}\n`);
    return 0;
  }
  if (!verbs.includes(what)) throw new Mistake(`${JSON.stringify(what)} is not known; add, list or revoke`);
  const file = await fileOf(values);
  if (what === 'list') return list(readTokens(file), file, values.json === true, out);
  if (name === undefined || !/^[\w.@+-]{1,64}$/.test(name)) {
    throw new Mistake(`Whose token? mooring token ${what} NAME, a name of letters, digits and . _ @ + -`);
  }
  if (what === 'add') {
    const token = addToken(file, {
      id: name,
      ...(values.scope === undefined ? {} : { scopes: values.scope }),
      ...(values.expires === undefined ? {} : { expires: expiry(values.expires) }),
    });
    out.write(values.json === true ? `${JSON.stringify({ id: name, token, file })}\n` : `${token}\n`);
    out.note(
      `\nThis is the only time it is shown. Its hash is in ${file}\nServe with: mooring serve --http --token-file ${file}\n`,
    );
    return 0;
  }
  revokeToken(file, name);
  if (values.json === true) out.json({ id: name, file });
  out.note(
    `The token of ${name} ends once the server has read the file again: kill -HUP its process, or restart it.\n`,
  );
  return 0;
}

async function fileOf(values: { file?: string; config?: string; data?: string }): Promise<string> {
  if (values.file !== undefined) return resolve(values.file);
  const flags: Record<string, readonly string[]> = values.data === undefined ? {} : { data: [values.data] };
  const { settings } = await settle({ flags, configFile: values.config, defaultProfile });
  return settings.auth?.tokenFile ?? join(settings.dataDir, 'tokens.json');
}

function expiry(words: string): string {
  const days = /^(\d{1,4})d$/.exec(words);
  const date = days === null ? new Date(words) : new Date(Date.now() + Number(days[1]) * 86_400_000);
  if (Number.isNaN(date.getTime()))
    throw new Mistake(`--expires is no date: ${JSON.stringify(words)}; write 2026-12-31, or 30d`);
  if (date.getTime() <= Date.now()) throw new Mistake(`--expires ${words} is in the past`);
  return date.toISOString();
}

function list(tokens: readonly TokenEntry[], file: string, json: boolean, out: Output): number {
  if (json) {
    out.json(tokens.map(({ hash: _hash, ...rest }) => rest));
    return 0;
  }
  if (tokens.length === 0) {
    out.note(`There are no tokens in ${file}; "mooring token add NAME" makes one\n`);
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
