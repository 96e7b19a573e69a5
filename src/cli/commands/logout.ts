// mooring logout: deletes the stored tokens of a server and asks its authorization server to revoke them.

import { findTarget } from '../../app/targets.ts';
import { UsageError } from '../../app/usage-error.ts';
import { addressOf } from '../client/connection.ts';
import { endSignIn } from '../client/end-sign-in.ts';
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
  return endSignIn(server, { out, json: values.json === true });
});
