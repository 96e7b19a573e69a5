// mooring logout: deletes the stored tokens of a server and asks its authorization server to revoke them.

import { findTarget } from '../../app/targets.ts';
import { lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { addressOf } from '../client/connection.ts';
import { command } from '../command.ts';

const help = `Usage: mooring logout <server> [options]

Signs out of a server: deletes the tokens stored on this machine and asks the authorization server to revoke them.

Options:
  --config FILE    configuration file with server names
  --json           print JSON
  -h, --help       show this help

<server> is an http or https URL, or a name in "mcpServers" of the configuration, written as it was when you signed in.
`;

const options = {
  config: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const run = command({ name: 'logout', help, options }, async ({ values, positionals, out }) => {
  const [word, ...more] = positionals;
  if (word === undefined || more.length > 0) throw new UsageError('Usage: mooring logout <server>');
  const server = addressOf((await findTarget(word, values.config)).target);
  if (server === undefined) throw new UsageError('Only servers with an http or https URL have a sign-in');
  const { createFileStore, signOut } = await import('../../client/index.ts');
  const ended = await signOut({ server, store: createFileStore() });
  if (values.json === true) out.json({ server, signedIn: ended !== undefined, revocation: ended?.revocation ?? null });
  else if (ended === undefined) out.info(`You are not signed in to ${lineForTerminal(server)}.\n`);
  else out.info(`${sentence(lineForTerminal(server), ended.revocation)}\n`);
  if (ended?.error === undefined) return 0;
  out.info(`mooring: ${lineForTerminal(ended.error.message, 500)}\n`);
  return 1;
});

function sentence(server: string, revocation: 'done' | 'not-offered' | 'failed'): string {
  const after = {
    done: 'its tokens were revoked.',
    'not-offered':
      'its tokens were deleted here. The server does not support revocation, so they stay valid until they expire.',
    failed: 'its tokens were deleted here, but could not be revoked:',
  } as const;
  return `Signed out of ${server}: ${after[revocation]}`;
}
