// mooring gateway logout: deletes the stored inputs and secrets of a configuration, or signs out of a server.

import { deleteValues, knownServers, urlOf } from '../../app/gateway/login.ts';
import { UsageError } from '../../app/usage-error.ts';
import { endSignIn } from '../client/end-sign-in.ts';
import { command } from '../command.ts';
import { findServer } from './find-server.ts';

const help = `Usage: mooring gateway logout [SERVER] [--config FILE]…

Deletes the inputs and secrets of the configuration that "mooring gateway login" has stored. With SERVER, it signs out of
that server instead: it deletes the tokens on this machine and asks the authorization server to revoke them.

Options:
  --config FILE    a configuration file; repeatable (default: your user configuration)
  -h, --help       show this help
`;

const options = {
  config: { type: 'string', multiple: true },
} as const;

export const run = command({ name: 'gateway logout', help, options }, async ({ values, positionals, out }) => {
  const [named, ...more] = positionals;
  if (more.length > 0) throw new UsageError('Usage: mooring gateway logout [SERVER]');
  const files = values.config ?? [];
  if (named !== undefined) {
    return endSignIn(urlOf(findServer(named, await knownServers(files))), { out, json: false });
  }
  const deleted = await deleteValues(files);
  out.info(deleted === 0 ? 'No inputs or secrets are stored\n' : `Deleted ${deleted} stored values\n`);
  return 0;
});
