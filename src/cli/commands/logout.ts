// mooring logout: forgets what a sign-in left behind, and has the tokens revoked where the server can.

import { lineForTerminal } from '../../app/foreign-text.ts';
import { Mistake } from '../../app/mistake.ts';
import { findTarget } from '../../app/targets.ts';
import { addressOf } from '../client/connection.ts';
import { openOutput } from '../ui/output.ts';
import { readArgs } from '../usage.ts';

const help = `Usage: mooring logout <server> [options]

Forgets the tokens that signing in to a server in the browser left on this machine, and asks its
authorization server to revoke them.

Options:
  --config FILE    names of servers come from this file
  --json           for programs
  -h, --help       show this

<server> is a URL (http, https), or a name in "mcpServers" of the configuration, spelled as it was for signing in.
`;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs('logout', args, {
    config: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  const out = openOutput();
  if (values.help === true) {
    out.write(help);
    return 0;
  }
  const [word, ...more] = positionals;
  if (word === undefined || more.length > 0) throw new Mistake('Usage: mooring logout <server>');
  const server = addressOf((await findTarget(word, values.config)).target);
  if (server === undefined) throw new Mistake('Only servers with an http or https URL are signed in to');
  const { createFileStore, signOut } = await import('../../client/index.ts');
  const ended = await signOut({ server, store: createFileStore() });
  if (values.json === true) out.json({ server, signedIn: ended !== undefined, revocation: ended?.revocation ?? null });
  else if (ended === undefined) out.note(`Nobody is signed in to ${lineForTerminal(server)} from this machine.\n`);
  else out.note(`${sentence(lineForTerminal(server), ended.revocation)}\n`);
  if (ended?.error === undefined) return 0;
  out.note(`mooring: ${lineForTerminal(ended.error.message, 500)}\n`);
  return 1;
}

function sentence(server: string, revocation: 'done' | 'not-offered' | 'failed'): string {
  const after = {
    done: 'its tokens are revoked.',
    'not-offered': 'its tokens are forgotten here; the server offers no revocation, so they end when they expire.',
    failed: 'its tokens are forgotten here, but could not be revoked:',
  } as const;
  return `Signed out of ${server}; ${after[revocation]}`;
}
